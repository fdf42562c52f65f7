import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { createServer, type AddressInfo, Socket } from "node:net";
import { test } from "node:test";
import { canSetWindows, openWindow } from "./receive-window.ts";

const skip = canSetWindows() ? false : "needs node:ffi on Linux";

test("a window is what was asked for, widens, and never narrows", { skip }, () => {
  const window = openWindow("127.0.0.1", 8192);
  assert.ok(window !== undefined);
  assert.equal(window.bytes, 8192);
  window.widen(32_768);
  assert.equal(window.bytes, 32_768);
  window.widen(4096);
  assert.equal(window.bytes, 32_768);
  window.close();
});

test("an open connection knows its round trip, on IPv4 and IPv6", { skip }, async (t) => {
  const server = createServer().listen(0);
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  for (const host of ["127.0.0.1", "::1"]) {
    const window = openWindow(host, 8192);
    assert.ok(window !== undefined);
    assert.equal(window.rttMs(), undefined);
    const taken = { fd: window.fd, manualStart: true, readable: true, writable: true };
    const socket = new Socket(taken);
    await new Promise<void>((resolve) => socket.connect({ host, port }, resolve));
    const rttMs = window.rttMs();
    assert.ok(rttMs !== undefined && rttMs > 0 && rttMs < 1000, `${host}: ${rttMs} ms`);
    socket.destroy();
  }
});

test("what came and was not read is known to the byte", { skip }, async (t) => {
  // Who closes without having read resets the connection.
  const server = createServer((socket) =>
    socket.on("error", () => {}).write(Buffer.alloc(3000)),
  ).listen(0);
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const window = openWindow("127.0.0.1", 65_536);
  assert.ok(window !== undefined);
  const taken = { fd: window.fd, manualStart: true, readable: true, writable: true };
  const socket = new Socket(taken);
  t.after(() => socket.destroy());
  await new Promise<void>((resolve) => socket.connect({ host: "127.0.0.1", port }, resolve));
  while (window.unreadBytes(0) !== 3000) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(window.unreadBytes(1000), 2000);
  assert.equal(window.unreadBytes(2 ** 32 + 1000), 2000, "after four gigabytes");
});

test("nothing stays open of a window that was closed", { skip }, () => {
  const before = readdirSync("/proc/self/fd").length;
  for (let round = 0; round < 100; round++) {
    openWindow("127.0.0.1", 4096)?.close();
    openWindow("::1", 4096)?.close();
    canSetWindows();
  }
  assert.equal(readdirSync("/proc/self/fd").length, before);
});

test("nobody is warned, and without permission there are just no windows", { skip }, () => {
  const source = new URL("./receive-window.ts", import.meta.url).href;
  const script = `const { canSetWindows } = await import(${JSON.stringify(source)});
    console.log(canSetWindows());
    process.emitWarning("still heard");`;
  const run = (...flags: string[]): string[] => {
    const args = [...flags, "--input-type=module", "--eval", script];
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    return [stdout.trim(), ...(stderr.match(/\w*Warning.*/g) ?? [])];
  };
  assert.deepEqual(run(), ["true", "Warning: still heard"]);
  assert.deepEqual(run("--permission", "--allow-fs-read=*"), ["false", "Warning: still heard"]);
});
