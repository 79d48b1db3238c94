// What the test can take from a proxy: the right time, and memory.
import { closeSync, existsSync, openSync, writeFileSync, writeSync } from 'node:fs';

const { TMPDIR: home, group, wrong_clock: wrongClock } = process.env;
const kAhead = `${home}/ahead`;

// Programs that are started so have the clock of setClockAhead(): see tests/support/wrong_clock.cpp.
export const kWithWrongClock = ['env', `LD_PRELOAD=${wrongClock}`, `HEARSAY_CLOCK_AHEAD=${kAhead}`];

// Writes in place, since the program has mapped the file.
export function setClockAhead(seconds) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(seconds));
  const file = openSync(kAhead, existsSync(kAhead) ? 'r+' : 'w');
  writeSync(file, bytes);
  closeSync(file);
}

// Programs that are started so have so much memory: a control group, of version 1 or 2.
export function limitMemory(mebibytes) {
  const file = existsSync(`${group}/memory.limit_in_bytes`) ? 'memory.limit_in_bytes' : 'memory.max';
  writeFileSync(`${group}/${file}`, String(mebibytes * 2 ** 20));
  return ['/bin/sh', '-c', `echo $$ >${group}/cgroup.procs && exec "$@"`, '-'];
}
