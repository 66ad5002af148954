import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CORES, hasCommand, pinned, run } from './measure.ts';

/** A load: the repeated request, and how long and over how many connections it is sent. */
export interface LoadOrder {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Body of a POST; null sends a GET. */
  readonly body: string | null;
  readonly connections: number;
  readonly seconds: number;
  /** Other statuses count as bad. wrk only distinguishes statuses below 400 from all others. */
  readonly expectedStatus: number;
}

/** Figures of one load. Latencies are those of whole answers, in microseconds. */
export interface LoadReport {
  readonly requests: number;
  readonly elapsedUs: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** Highest latency. */
  readonly maxUs: number;
  /** Answers with another status, and failed requests. */
  readonly bad: number;
}

const WRK_SCRIPT = `
wrk.body = os.getenv("LOAD_BODY")
wrk.method = wrk.body and "POST" or "GET"
for name, value in string.gmatch(os.getenv("LOAD_HEADERS"), "([^=\\n]+)=([^\\n]+)") do wrk.headers[name] = value end
function done(summary, latency)
  local e = summary.errors
  io.write(string.format('REPORT {"requests":%d,"elapsedUs":%d,"p50Us":%.1f,"p99Us":%.1f,"maxUs":%.1f,"bad":%d,"refused":%d}\\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), latency.max,
    e.connect + e.read + e.write + e.timeout, e.status))
end
`;

const tool = hasCommand('wrk') ? 'wrk' : 'own sockets';

/** Load generator of this machine. */
export const LOAD_TOOL: string = tool;

/** Loads one address. Accepts loopback addresses only. */
export async function load(order: LoadOrder, folder: string): Promise<LoadReport> {
  if (new URL(order.url).hostname !== '127.0.0.1') throw new Error(`Only 127.0.0.1 may be loaded, not ${order.url}.`);
  return tool === 'wrk' ? loadWithWrk(order, folder) : loadWithSockets(order);
}

async function loadWithWrk(order: LoadOrder, folder: string): Promise<LoadReport> {
  const script = join(folder, 'report.lua');
  writeFileSync(script, WRK_SCRIPT);
  const wrk = [
    'wrk',
    '-t1',
    `-c${order.connections}`,
    `-d${order.seconds}s`,
    '--timeout',
    '20s',
    '-s',
    script,
    order.url,
  ];
  const output = await run(pinned(CORES.load, wrk), {
    ...(order.body === null ? {} : { LOAD_BODY: order.body }),
    LOAD_HEADERS: Object.entries(order.headers)
      .map(([name, value]) => `${name}=${value}`)
      .join('\n'),
  });
  const report: (LoadReport & { readonly refused: number }) | null = JSON.parse(
    /REPORT (.*)/.exec(output)?.[1] ?? 'null',
  );
  if (report === null) throw new Error(`wrk printed no report: ${output}`);
  const { refused, ...rest } = report;
  // wrk counts every status above 399 as a failure. Where a refusal is expected, all answers must be failures.
  const wrong = order.expectedStatus >= 400 ? rest.requests - refused : refused;
  return { ...rest, bad: rest.bad + wrong };
}

async function loadWithSockets(order: LoadOrder): Promise<LoadReport> {
  const script = join(import.meta.dirname, 'socket-load.ts');
  const output = await run(pinned(CORES.load, [process.execPath, script]), { LOAD: JSON.stringify(order) });
  const report: LoadReport = JSON.parse(output);
  return report;
}
