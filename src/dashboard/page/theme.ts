/** Light, dark, or the system's theme; stored in this browser. */

type Theme = "system" | "light" | "dark";
const THEMES: readonly Theme[] = ["system", "light", "dark"];
const KEY = "weir-theme";

export function themeName(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? "system";
  } catch {
    return "system";
  }
}

export function nextTheme(): void {
  const next = THEMES[(THEMES.indexOf(themeName()) + 1) % THEMES.length] ?? "system";
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Without storage, the choice lasts until the page is left.
  }
  applyTheme(next);
}

export function applyTheme(theme: Theme = themeName()): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}
