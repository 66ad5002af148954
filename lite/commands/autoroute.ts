import { claudeSettingsFile, readSettings, settingsForRouter, writeSettings } from '../agents/claude-settings.ts';
import { refuseWhileOwned, restoreSettings, takeBackup } from '../agents/settings-backup.ts';
import { verifyKey } from '../agents/verify-key.ts';
import { KEY_VARIABLE, readAutorouteConfig, ROUTER, writeAutorouteConfig } from '../autoroute/autoroute-config.ts';
import {
  configFileOf,
  type LocalProxy,
  logFileOf,
  makeAutorouteFolder,
  readLocalProxy,
  removeLocalProxy,
  writeLocalProxy,
} from '../autoroute/autoroute-files.ts';
import {
  followLog,
  isPortFree,
  isRunning,
  startLocalProxy,
  stopLocalProxy,
  untilReady,
  urlOf,
} from '../autoroute/local-process.ts';
import { askForAutoroute } from '../autoroute/questions.ts';
import type { Command, Options } from '../command.ts';
import { checkedKey, type Context } from '../context.ts';
import { CommandFailure, UsageFailure } from '../failure.ts';
import type { Host } from '../host.ts';
import { textOrNull, type Values } from '../values.ts';
import { NO_KEY } from './agents.ts';

/** Port of the server, which the local proxy must leave free. */
const SERVER_PORT = 4_000;
const MAX_PORT = 65_535;

/** The key of the server, checked by the server, and its models. Throws CommandFailure. */
async function keyAndModels(context: Context) {
  const key = checkedKey(await context.key());
  if (key === null) throw new CommandFailure(NO_KEY);
  return { key, models: await verifyKey(context.baseUrl, key) };
}

async function configure(context: Context): Promise<void> {
  const { host, baseUrl } = context;
  const { models } = await keyAndModels(context);
  if (models === null) throw new CommandFailure(`${baseUrl}/v1/models could not be read with this key.`);
  const ids = models.flatMap(({ id }) => textOrNull(id) ?? []);
  const path = await writeAutorouteConfig(host, await askForAutoroute(host, baseUrl, ids));
  host.terminal.print(`Wrote ${path}. Start the router with \`lite autoroute start\`.`);
}

/** The port of the command line. Throws UsageFailure, and CommandFailure for the port of the server. */
function portOf(values: Values): number {
  const port = values.integer('port') ?? 0;
  if (port < 1 || port > MAX_PORT) throw new UsageFailure(`Invalid value for '--port': 1 to ${MAX_PORT}.`);
  if (port === SERVER_PORT)
    throw new CommandFailure(`Port ${SERVER_PORT} is the port of the server. Choose another one with --port.`);
  return port;
}

function refuseWhileRunning(host: Host): void {
  const proxy = readLocalProxy(host);
  if (proxy !== null && isRunning(proxy))
    throw new CommandFailure(
      `The proxy already runs at ${urlOf(proxy)} (pid ${proxy.pid}). Run \`lite autoroute stop\` first.`,
    );
}

/**
 * Variables of the proxy: its key, and the key of the server where the configuration refers to it. Throws
 * CommandFailure for a configuration of another server, which must not get the key.
 */
async function variablesOf(context: Context): Promise<{ readonly masterKey: string; readonly serverKey: string }> {
  const { host, baseUrl } = context;
  const config = await readAutorouteConfig(host);
  if (config === null) throw new CommandFailure('No config found. Run `lite autoroute configure` first.');
  const { masterKey, keyAddresses } = config;
  if (keyAddresses.length === 0) return { masterKey, serverKey: '' };
  const other = keyAddresses.find((address) => address !== `${baseUrl}/v1`);
  if (other !== undefined)
    throw new CommandFailure(
      `${configFileOf(host)} is for ${other.replace(/\/v1$/, '')}, not for ${baseUrl}. ` +
        'Run `lite autoroute configure`, or select its server with --base-url.',
    );
  return { masterKey, serverKey: (await keyAndModels(context)).key };
}

async function start(context: Context, values: Values): Promise<void> {
  const { host } = context;
  const { terminal } = host;
  const port = portOf(values);
  const settingsPath = claudeSettingsFile(host);
  refuseWhileRunning(host);
  refuseWhileOwned(host, settingsPath);
  const { masterKey, serverKey } = await variablesOf(context);
  if (!(await isPortFree(port))) throw new CommandFailure(`Port ${port} is in use. Choose another one with --port.`);
  const settings = readSettings(settingsPath);
  const interruption = host.interruption();
  const { signal } = interruption;
  let proxy: LocalProxy | null = null;
  let hasBackup = false;
  try {
    makeAutorouteFolder(host);
    const place = { port, configPath: configFileOf(host), logPath: logFileOf(host) };
    proxy = await startLocalProxy(host, place, serverKey === '' ? {} : { [KEY_VARIABLE]: serverKey });
    writeLocalProxy(host, proxy);
    await untilReady(proxy, signal);
    if (signal.aborted) return;
    takeBackup(host, 'autoroute', settings);
    hasBackup = true;
    const route = { baseUrl: urlOf(proxy), key: masterKey, model: ROUTER };
    writeSettings(settingsPath, settingsForRouter(settings.content, route));
    terminal.print(`litellm: ephemeral auto-router proxy up at ${urlOf(proxy)} (pid ${proxy.pid})`);
    terminal.print('Press Ctrl-C to stop it and restore your original settings.');
    // `lite autoroute stop` removes the record of the proxy before it ends the proxy.
    if (!(await followLog(host, proxy, signal)) && readLocalProxy(host)?.pid === proxy.pid)
      throw new CommandFailure(`The proxy has ended. See ${proxy.logPath}.`);
  } finally {
    if (proxy !== null) await stopLocalProxy(proxy);
    if (proxy !== null && readLocalProxy(host)?.pid === proxy.pid) removeLocalProxy(host);
    if (hasBackup) restoreSettings(host, 'autoroute');
    interruption.release();
  }
}

async function stop({ host }: Context): Promise<void> {
  const proxy = readLocalProxy(host);
  removeLocalProxy(host);
  const wasRunning = proxy !== null && (await stopLocalProxy(proxy));
  if (wasRunning) host.terminal.print(`Stopped the auto-router proxy (pid ${proxy.pid}).`);
  const isRestored = restoreSettings(host, 'autoroute');
  if (!wasRunning && !isRestored) host.terminal.print('Nothing to stop.');
}

const PORT: Options = { port: { type: 'string', default: '5483', help: 'Port of the proxy on 127.0.0.1' } };

/** A former name of a command, which prints a warning on stderr first. */
const formerName = (name: string, command: Command): Command => ({
  ...command,
  names: ['autoroute', name],
  hidden: true,
  run(context, values) {
    const [former, current] = [`lite autoroute ${name}`, `lite ${command.names.join(' ')}`];
    context.host.terminal.note(
      `\`${former}\` is deprecated and will be removed in a future release; run \`${current}\` instead, ` +
        'it takes the same options.',
    );
    return command.run(context, values);
  },
});

const START: Command = {
  names: ['autoroute', 'start'],
  summary: 'Start a local auto router, and route Claude Code through it until Ctrl-C',
  options: PORT,
  run: start,
};
const STOP: Command = {
  names: ['autoroute', 'stop'],
  summary: 'Stop the local auto router, and restore the settings of Claude Code',
  run: stop,
};

export const autorouteCommands: readonly Command[] = [
  {
    names: ['autoroute', 'configure'],
    summary: 'Choose the models of the tiers of the local auto router',
    run: configure,
  },
  START,
  STOP,
  formerName('up', START),
  formerName('down', STOP),
];
