import assert from "node:assert/strict";
import { test } from "node:test";
import { countryMistake, publicHolidaysOf, readCountry } from "./holidays.ts";

test("a country's public holidays are known, moving feasts too, and its working days are not among them", () => {
  const isHoliday = publicHolidaysOf("IT");
  for (const date of ["2026-01-01", "2026-01-06", "2026-04-06", "2026-08-15", "2027-03-29"])
    assert.equal(isHoliday(date), true, date);
  for (const date of ["2026-01-02", "2026-04-07", "2026-11-16", "2026-12-24"])
    assert.equal(isHoliday(date), false, date);
});

test("a part of a country has holidays of its own", () => {
  assert.equal(publicHolidaysOf("DE-BY")("2026-06-04"), true);
  assert.equal(publicHolidaysOf("DE-HH")("2026-06-04"), false);
  assert.equal(publicHolidaysOf("DE-BY-A")("2026-08-08"), true);
  assert.equal(publicHolidaysOf("DE-BY")("2026-08-08"), false);
});

test("a feast that begins at sunset and lasts four days is a holiday on these four", () => {
  const isHoliday = publicHolidaysOf("TR");
  assert.deepEqual(
    ["2026-05-26", "2026-05-27", "2026-05-28", "2026-05-29", "2026-05-30", "2026-05-31"].map(
      isHoliday,
    ),
    [false, true, true, true, true, false],
  );
});

test("a day in lieu of New Year's Day may lie in the old year", () => {
  assert.equal(publicHolidaysOf("US")("2027-12-31"), true);
});

test("every country that the library knows can be asked, in every month", () => {
  let countries = 0;
  for (let first = 65; first <= 90; first++)
    for (let second = 65; second <= 90; second++) {
      const code = readCountry(String.fromCharCode(first, second));
      if (code === undefined) continue;
      countries++;
      const isHoliday = publicHolidaysOf(code);
      const days = Array.from({ length: 365 }, (_, day) =>
        new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10),
      );
      const count = days.filter(isHoliday).length;
      assert.ok(count >= 1 && count <= 60, `${code} has ${count} holidays`);
    }
  assert.ok(countries > 150, `${countries} countries`);
});

test("a place is read in any case, and an unknown one is refused with what to write", () => {
  assert.equal(readCountry(" de-by "), "DE-BY");
  assert.equal(readCountry("US-CA"), "US-CA");
  for (const text of ["XX", "UK", "Italy", "DE-XX", "DE-BY-A-B", "", "__proto__", "constructor"])
    assert.equal(readCountry(text), undefined, text);
  assert.match(countryMistake("UK"), /did you mean GB\?/);
  assert.match(countryMistake("Itali"), /did you mean IT\?/);
  assert.match(countryMistake("XX"), /two letters, such as IT/);
  assert.match(countryMistake("DE-XX"), /DE has no part XX; it has DE-BB, DE-BE/);
  assert.match(countryMistake("VA-X"), /write VA/);
});
