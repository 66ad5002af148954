// CPU of loading a configuration file, in µs: reading its text, and resolving its references. Loads the file until the
// time is over. Prints one line of JSON.
//   node bench/configuration-load.ts FILE SECONDS WARM_SECONDS
import { readConfigFile } from '../src/runtime/settings/config-file.ts';

export interface ConfigurationReport {
  readonly cpuUs: number;
}

const [file = '', ...times] = process.argv.slice(2);
const [seconds = 1, warmSeconds = 0] = times.map(Number);

/** Loads the file at least once; returns the CPU of a load. */
function loadFor(durationMs: number): number {
  const endMs = performance.now() + durationMs;
  const before = process.cpuUsage();
  let loads = 0;
  do {
    readConfigFile(file, process.env);
    loads += 1;
  } while (performance.now() < endMs);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / loads;
}

loadFor(warmSeconds * 1_000);
console.log(JSON.stringify({ cpuUs: loadFor(seconds * 1_000) } satisfies ConfigurationReport));
