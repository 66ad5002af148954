// Starts the trace store of Genkit, a peer from npm: accepts OTLP/JSON at /api/otlp, stores JSON files in a folder.
//   node bench/genkit.ts <home with its node_modules> <port> <folder>
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

interface Telemetry {
  readonly LocalFileTraceStore: new (roots: object) => { init?(): Promise<void> };
  readonly LocalFileLogStore: new (roots: object) => { init?(): Promise<void> };
  startTelemetryServer(options: object): Promise<void>;
}

const [home = '', port = '', folder = ''] = process.argv.slice(2);
const telemetry = createRequire(join(home, 'package.json'))('@genkit-ai/telemetry-server') as Telemetry;
mkdirSync(folder, { recursive: true });
const roots = { storeRoot: folder, indexRoot: folder };
const traceStore = new telemetry.LocalFileTraceStore(roots);
const logStore = new telemetry.LocalFileLogStore(roots);
await traceStore.init?.();
await logStore.init?.();
await telemetry.startTelemetryServer({
  port: Number(port),
  host: '127.0.0.1',
  traceStore,
  logStore,
  maxRequestBodySize: '64mb',
});
