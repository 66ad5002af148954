import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { installPeer } from './install.ts';
import {
  consumption,
  CORES,
  freePort,
  peakResident,
  pinned,
  productCommand,
  type Program,
  run,
  start,
  untilReady,
} from './measure.ts';
import type { OtlpOrder, OtlpReport } from './otlp-load.ts';
import { FILLED, type Filled, SPANS_PER_TRACE } from './trace-fill.ts';
import type { RequestOrder, RequestReport } from './trace-requests.ts';

export const SPANS_PER_EXPORT = 100;
export const CONNECTIONS = 4;
const GENKIT = { name: '@genkit-ai/telemetry-server', version: '1.43.0' };

/** A target for exports. */
export interface Target {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly format: OtlpOrder['format'];
  readonly program: Program;
}

/** A target that stores its spans in one SQLite file. */
export interface Product extends Target {
  readonly origin: string;
  readonly adminKey: string;
  /** Bytes of the file; final once the program has ended. */
  fileBytes(): number;
}

export interface Round extends OtlpReport {
  readonly spansPerSecond: number;
  /** On-CPU time per span, in µs. */
  readonly cpuUs: number;
  readonly rssMiB: number;
}

const script = (name: string): string => join(import.meta.dirname, name);

/** Starts targets in a scratch folder; `stop` ends all of them. */
export function traceTargets(folder: string) {
  const programs: Program[] = [];
  let seed = 0;

  function launch(
    name: string,
    command: readonly string[],
    { core = CORES.server, env = {} }: { readonly core?: string | null; readonly env?: Record<string, string> } = {},
  ): Program {
    const program = start(name, command, { core, log: join(folder, `${name.replaceAll(/\W+/g, '-')}.log`), env });
    programs.push(program);
    return program;
  }

  return {
    /** Inflates and decodes every span, stores nothing. */
    async sink(): Promise<Target> {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const program = launch('read-only', [process.execPath, script('otlp-sink.ts'), String(port)]);
      await untilReady(url);
      return { name: 'read only: inflated, decoded, nothing stored', url, headers: {}, format: 'protobuf', program };
    },
    /** The product on SQLite. A retention of 365 days keeps the traces of a filled folder. */
    async product(
      name: string,
      core: string | null,
      { filled, root }: { readonly filled?: string; readonly root?: string } = {},
    ): Promise<Product> {
      const port = await freePort();
      const adminKey = `sk-${randomBytes(24).toString('base64url')}`;
      const dataDir = filled ?? join(folder, `data-${port}`);
      const command = productCommand(
        ['--port', String(port), '--host', '127.0.0.1'],
        root === undefined ? {} : { root },
      );
      const env = {
        LENSGATE_DATA_DIR: dataDir,
        LITELLM_MASTER_KEY: adminKey,
        LENSGATE_CATALOG_REFRESH_SECONDS: '0',
        AGENT_TRACING_RETENTION_DAYS: '365',
      };
      const program = launch(name, command, { core, env });
      await untilReady(`http://127.0.0.1:${port}/health/readiness`);
      return {
        name,
        origin: `http://127.0.0.1:${port}`,
        adminKey,
        url: `http://127.0.0.1:${port}/v1/traces`,
        headers: { authorization: `Bearer ${adminKey}` },
        format: 'protobuf',
        program,
        fileBytes: () => statSync(join(dataDir, 'lensgate.db')).size,
      };
    },
    /** The trace store of another npm project; null when it is not available. */
    async genkit(): Promise<Target | null> {
      const home = await installPeer(folder, GENKIT);
      if (home === null) return null;
      const port = await freePort();
      const command = [process.execPath, script('genkit.ts'), home, String(port), join(folder, 'genkit-store')];
      const program = launch('genkit', command);
      const origin = `http://127.0.0.1:${port}`;
      await untilReady(`${origin}/api/__health`);
      const name = `${GENKIT.name} ${GENKIT.version}: JSON files`;
      return { name, url: `${origin}/api/otlp/v1/traces`, headers: {}, format: 'json', program };
    },
    /** Starts a product on a filled folder, sends requests to it and stops it. */
    async requests(filled: string, spans: number, requests: number): Promise<RequestReport> {
      const product = await this.product(`filled with ${spans}`, CORES.server, { filled });
      const { endMs }: Filled = JSON.parse(readFileSync(join(filled, FILLED), 'utf8'));
      const { origin, adminKey } = product;
      const order: RequestOrder = { origin, adminKey, traces: Math.ceil(spans / SPANS_PER_TRACE), endMs, requests };
      const output = await run(pinned(CORES.load, [process.execPath, script('trace-requests.ts')]), {
        READS: JSON.stringify(order),
      });
      await product.program.stop();
      return JSON.parse(output) as RequestReport;
    },
    /** Sends exports with new ids; with `renewed`, their texts repeat. Throws when an export is refused. */
    async round(
      { name, url, headers, format, program }: Target,
      exports: number,
      { connections = CONNECTIONS, renewed = false } = {},
    ): Promise<Round> {
      const order: OtlpOrder = {
        url,
        headers,
        exports,
        spans: SPANS_PER_EXPORT,
        connections,
        seed: ++seed,
        format,
        renewed,
      };
      const before = consumption(program.pid).cpuNs;
      const output = await run(pinned(CORES.load, [process.execPath, script('otlp-load.ts')]), {
        LOAD: JSON.stringify(order),
      });
      const after = consumption(program.pid);
      const report: OtlpReport = JSON.parse(output);
      if (report.bad > 0) throw new Error(`${name} did not take ${report.bad} of ${exports} exports.`);
      const spans = exports * SPANS_PER_EXPORT;
      return {
        ...report,
        spansPerSecond: spans / (report.elapsedMs / 1_000),
        cpuUs: (after.cpuNs - before) / 1e3 / spans,
        rssMiB: after.rss / 2 ** 20,
      };
    },
    /** Peak resident MiB of a target. */
    peakMiB: ({ program }: Target): number => peakResident(program.pid) / 2 ** 20,
    async stop(): Promise<void> {
      for (const program of programs) await program.stop();
    },
  };
}
