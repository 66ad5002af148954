import { once } from 'node:events';
import { claudeSettingsFile, readSettings, settingsForServer, writeSettings } from '../agents/claude-settings.ts';
import { refuseWhileOwned, restoreSettings, takeBackup } from '../agents/settings-backup.ts';
import { verifyKey } from '../agents/verify-key.ts';
import type { Command } from '../command.ts';
import { checkedKey, type Context } from '../context.ts';
import { CommandFailure } from '../failure.ts';
import { isExpired, readLogin, type StoredLogin } from '../files/login-file.ts';
import { freshKey } from '../login/renewal.ts';
import { logIn } from './login.ts';

/** The stored login for the server; null unless its key is valid or can be renewed. */
function usableLogin({ host, baseUrl }: Context): StoredLogin | null {
  const login = readLogin(host);
  if (login === null || login.baseUrl !== baseUrl || login.key === null) return null;
  return login.renewal !== null || !isExpired(host, login) ? login : null;
}

/** Key for the settings: the explicit key, else the key of the login. Without a valid login, a person signs in. */
async function freshLoginKey(context: Context): Promise<string> {
  const { host, explicitKey } = context;
  const login = usableLogin(context);
  const stored = login && (await freshKey(host, login));
  if (stored !== null) return explicitKey ?? stored;
  const isPkce = (readLogin(host)?.renewal ?? null) !== null;
  const command = isPkce ? 'lite login --pkce' : 'lite login';
  if (!host.terminal.isInteractive)
    throw new CommandFailure(`No fresh LiteLLM login found for this proxy. Run \`${command}\` first.`);
  host.terminal.print('No fresh LiteLLM login found for this proxy; starting login...');
  const issued = await logIn(context, isPkce);
  if (issued === null) throw new CommandFailure('Login did not produce a usable token.');
  return explicitKey ?? issued;
}

async function up(context: Context): Promise<void> {
  const { host, baseUrl } = context;
  const { terminal } = host;
  const key = checkedKey(await freshLoginKey(context)) ?? '';
  await verifyKey(baseUrl, key);
  const path = claudeSettingsFile(host);
  refuseWhileOwned(host, path, ['autoroute']);
  const settings = readSettings(path);
  const interruption = host.interruption();
  try {
    takeBackup(host, 'up', settings);
    try {
      writeSettings(path, settingsForServer(settings.content, { baseUrl, key, model: null }));
      terminal.print(`litellm: routing Claude Code through proxy at ${baseUrl}`);
      terminal.print('Press Ctrl-C to stop and restore your original settings.');
      if (!interruption.signal.aborted) await untilAborted(interruption.signal);
    } finally {
      restoreSettings(host, 'up');
    }
  } finally {
    interruption.release();
  }
}

/** Period of a timer that does nothing, in ms. Signal listeners alone do not keep the process alive. */
const KEEP_ALIVE_MS = 3_600_000;

async function untilAborted(signal: AbortSignal): Promise<void> {
  const keepAlive = setInterval(() => {}, KEEP_ALIVE_MS);
  try {
    await once(signal, 'abort');
  } finally {
    clearInterval(keepAlive);
  }
}

export const upCommands: readonly Command[] = [
  {
    names: ['up'],
    summary: 'Route every session of Claude Code through the server until Ctrl-C',
    run: up,
  },
  {
    names: ['down'],
    summary: 'Restore the settings of Claude Code after a crash of `lite up`',
    run({ host }) {
      if (!restoreSettings(host, 'up')) host.terminal.print('Nothing to restore.');
    },
  },
];
