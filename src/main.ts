import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { ConfigError } from './runtime/settings/config-fault.ts';
import { keyGenerator } from './runtime/identifiers.ts';
import { helpOrVersion } from './runtime/settings/command-line.ts';
import { processEnvironment } from './runtime/settings/process-environment.ts';
import { readSettings, type Settings } from './runtime/settings/settings.ts';
import { createLog } from './runtime/telemetry/log.ts';
import { startFailureText } from './startup/start-failure.ts';
import { welcome } from './startup/welcome.ts';

// Only the user of this process may read its files (database, admin key), even in a shared folder.
process.umask(0o077);

const requestedText = helpOrVersion(process.argv.slice(2));
if (requestedText !== null) {
  await new Promise((resolve) => process.stdout.write(requestedText, resolve));
  process.exit(0);
}

const settings = read();
// Libraries read the environment, too, for example for cloud credentials.
Object.assign(processEnvironment(), settings.variables);
const log = createLog(settings.logLevel);
for (const warning of settings.warnings) log.warn({}, warning);

// Caches compiled code for the next start, unless the bundle has its own cache. In the data folder, because only its
// owner may write code there.
enableCompileCache(join(settings.dataDir, 'compiled'));

// Loaded after the settings: a faulty configuration is reported before the application is composed.
const { startApp } = await import('./app.ts');
const app = await startApp(settings, log).catch((error: unknown) => {
  const reason = startFailureText(error, settings);
  if (reason === null) log.error({ err: error }, 'could not start');
  else process.stderr.write(`Lensgate cannot start: ${reason}\n`);
  process.exit(1);
});
/** Deadline of a shutdown, in ms. A longer shutdown ends the process with code 1. */
const SHUTDOWN_MS = 10_000;

/**
 * One Ctrl-C sends two signals, from the terminal and from npm. A SIGINT later than this after the first signal, in ms,
 * is a second press and ends the process.
 */
const SAME_PRESS_MS = 500;

let signalledMs: number | null = null;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    if (signalledMs !== null) {
      if (signal === 'SIGINT' && performance.now() - signalledMs > SAME_PRESS_MS) process.exit(1);
      return;
    }
    signalledMs = performance.now();
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

process.on('SIGHUP', () => void app.reload());

// Printed last: a supervisor may send a signal as soon as this line appears.
process.stdout.write(welcome(app.url, settings));

function read(): Settings {
  try {
    return readSettings(process.argv.slice(2), processEnvironment(), keyGenerator);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`Lensgate cannot start with this configuration:\n${error.message}\n`);
    process.exit(1);
  }
}
