import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { ConfigError } from './runtime/settings/config-file.ts';
import { keySmith } from './runtime/identifiers.ts';
import { createLog } from './runtime/telemetry/log.ts';
import { readSettings, type Settings } from './runtime/settings/settings.ts';
import { explainStart } from './startup/start-failure.ts';
import { welcome } from './startup/welcome.ts';

// What this process writes (database, admin key) is for its owner alone, whatever the folder's rights are.
process.umask(0o077);

const settings = read();
const log = createLog(settings.logLevel);
for (const warning of settings.warnings) log.warn({}, warning);

// What V8 makes of the code is kept for the next start, unless it is kept beside the bundle already: in our own folder,
// because nobody else may write code there.
enableCompileCache(join(settings.dataDir, 'compiled'));

// Loaded after the settings: a faulty configuration is reported before the application is composed.
const { startApp } = await import('./app.ts');
const app = await startApp(settings, log).catch((error: unknown) => {
  const reason = explainStart(error, settings);
  if (reason === null) log.error({ err: error }, 'could not start');
  else process.stderr.write(`Lensgate cannot start: ${reason}\n`);
  process.exit(1);
});
/** Longest a shutdown may take before the process ends anyway. */
const SHUTDOWN_MS = 10_000;

/** One Ctrl-C reaches us twice, by the terminal and by npm; a person's second one comes later than this. */
const SAME_PRESS_MS = 500;

let toldMs: number | null = null;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    if (toldMs !== null) {
      if (signal === 'SIGINT' && performance.now() - toldMs > SAME_PRESS_MS) process.exit(1);
      return;
    }
    toldMs = performance.now();
    log.info({ signal }, 'draining');
    setTimeout(() => process.exit(1), SHUTDOWN_MS).unref();
    app.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'shutdown failed');
        process.exit(1);
      },
    );
  });
}

// Printed last: a supervisor may send a signal as soon as this line appears.
process.stdout.write(welcome(app.url, settings));

function read(): Settings {
  try {
    return readSettings(process.argv.slice(2), process.env, keySmith);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`Lensgate cannot start with this configuration:\n${error.message}\n`);
    process.exit(1);
  }
}
