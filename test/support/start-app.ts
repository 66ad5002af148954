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

/** App in this process with a real store, a real port and its own data folder. */
export interface TestApp {
  readonly url: string;
  readonly adminKey: string;
  readonly dataDir: string;
  /** Replaces the text of the configuration file and reloads it. */
  reload(text: string): Promise<void>;
  /** Stops the app. Removes the data folder unless `keepData` is true. */
  stop(options?: { readonly keepData?: boolean }): Promise<void>;
  /** Sends a JSON request with the admin key. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
}

/**
 * Keeps the built-in catalog in memory between the apps of the worker. The module that loads the catalog keeps only a
 * weak reference.
 */
let catalog: EmbeddedMap | null = null;

/** Default of `router_settings` in a `config`: no retries and no cooldowns, so that a test sees each failure. */
const PLAIN_ROUTER = { num_retries: 0, disable_cooldowns: true };

/** Starts the app on a free loopback port. `config` is the content of the configuration file as an object. */
export async function startApp(
  options: {
    readonly config?: Record<string, unknown>;
    readonly env?: Record<string, string>;
    /** Data folder of an earlier run to reuse. */
    readonly dataDir?: string;
    /** Defaults to a free port. */
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
    // Tests do not use the network: the catalog is the built-in one unless a test starts an upstream.
    {
      LENSGATE_DATA_DIR: dataDir,
      LENSGATE_LOG_LEVEL: 'silent',
      LENSGATE_CATALOG_REFRESH_SECONDS: '0',
      // Disables retention: stored samples are years old.
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
