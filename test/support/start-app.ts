import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { type App, startApp as start } from '../../src/app.ts';
import { keyGenerator } from '../../src/runtime/identifiers.ts';
import { createLog } from '../../src/runtime/telemetry/log.ts';
import { type EmbeddedMap, loadEmbeddedMap } from '../../src/runtime/catalog/snapshot.ts';
import { readSettings } from '../../src/runtime/settings/settings.ts';
import { putMigratedDatabase } from './migrated-databases.ts';

/** The whole product in this process: real store, real port, a data folder of its own with an empty database. */
export interface TestApp {
  readonly url: string;
  readonly adminKey: string;
  readonly dataDir: string;
  /** Replaces the configuration file by this text, and reads it. */
  reload(text: string): Promise<void>;
  /** Stops it; the data folder goes too unless `keepData`. */
  stop(options?: { readonly keepData?: boolean }): Promise<void>;
  /** A JSON call with the admin key. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
}

/** Kept for the worker, so that its apps share the built-in catalog. */
let catalog: EmbeddedMap | null = null;

/** One call per request, and every deployment is called: a test of something else sees each failure at once. */
const PLAIN_ROUTER = { num_retries: 0, disable_cooldowns: true };

/** Starts the product on a free loopback port. `config` is the config file's content as an object. */
export async function startApp(
  options: {
    readonly config?: Record<string, unknown>;
    readonly env?: Record<string, string>;
    /** Reuses a data folder kept by an earlier run. */
    readonly dataDir?: string;
    /** A free one when absent. */
    readonly port?: number;
  } = {},
): Promise<TestApp> {
  catalog ??= loadEmbeddedMap();
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'lensgate-test-'));
  if (options.dataDir === undefined) await putMigratedDatabase(dataDir, 'catalog');
  const configFile = join(dataDir, 'config.yaml');
  if (options.config) writeFileSync(configFile, stringify({ router_settings: PLAIN_ROUTER, ...options.config }));
  const settings = readSettings(
    ['--port', String(options.port ?? 0), '--host', '127.0.0.1', ...(options.config ? ['--config', configFile] : [])],
    // No test reaches for the network: the catalog is the embedded one unless a test plays upstream.
    {
      LENSGATE_DATA_DIR: dataDir,
      LENSGATE_LOG_LEVEL: 'silent',
      LENSGATE_CATALOG_REFRESH_SECONDS: '0',
      // What tests store is years old.
      AGENT_TRACING_RETENTION_DAYS: '0',
      ...options.env,
    },
    keyGenerator,
  );
  const app: App = await start(settings, createLog(settings.logLevel));
  const adminKey = settings.masterKey.reveal();
  return {
    url: app.url,
    adminKey,
    dataDir,
    async reload(text) {
      writeFileSync(configFile, text);
      await app.reload();
    },
    async stop({ keepData = false } = {}) {
      await app.stop(1_000);
      if (!keepData) rmSync(dataDir, { recursive: true, force: true });
    },
    call: (method, path, body, headers = {}) =>
      fetch(`${app.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
  };
}
