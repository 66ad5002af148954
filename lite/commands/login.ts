import type { Command } from '../command.ts';
import { configureClaude } from '../agents/configure-claude.ts';
import type { Context } from '../context.ts';
import { CommandFailure, Ended, HttpFailure, textOf } from '../failure.ts';
import {
  isExpired,
  KEYCHAIN_NOTICE,
  loginHours,
  readLogin,
  removeLogin,
  storageNotice,
  type StoredLogin,
  writeLogin,
} from '../files/login-file.ts';
import type { Host } from '../host.ts';
import { signInByBrowser } from '../login/browser-flow.ts';
import { signInByPkce } from '../login/pkce-flow.ts';
import { freshKey, postForm } from '../login/renewal.ts';
import { plain } from '../terminal/table.ts';

const SEPARATOR = '='.repeat(60);
const UNAVAILABLE = 503;

/** Revokes the refresh token of a login. Throws HttpFailure and CommandFailure. */
async function revoke({ renewal }: StoredLogin): Promise<void> {
  if (renewal === null || renewal.revocationEndpoint === null) return;
  const { refreshToken: token, clientId } = renewal;
  await postForm(renewal.revocationEndpoint, { token, token_type_hint: 'refresh_token', client_id: clientId });
}

/** Signs in. Null, after a message on the terminal, when the person did not finish. */
async function signIn(context: Context, isPkce: boolean, signal: AbortSignal): Promise<StoredLogin | null> {
  const { host, baseUrl } = context;
  const shared = { baseUrl, userEmail: null, userRole: 'cli' };
  if (isPkce) {
    const { tokens, renewal } = await signInByPkce(context, signal);
    const timestamp = host.nowMs() / 1_000;
    const { key, userId, teamId, expiresIn } = tokens;
    return { ...shared, key, userId, teamId, timestamp, expiresAt: timestamp + expiresIn, renewal };
  }
  const found = await signInByBrowser(context, signal);
  return found && { ...shared, ...found, timestamp: host.nowMs() / 1_000, expiresAt: null, renewal: null };
}

/**
 * Signs in and stores the login. Prints a failure instead of throwing it. Returns the key; null where the person did
 * not sign in.
 */
export async function logIn(context: Context, isPkce = false): Promise<string | null> {
  const { host } = context;
  const interruption = host.interruption();
  try {
    const login = await signIn(context, isPkce, interruption.signal);
    if (login === null) return null;
    await store(host, login);
    return login.key;
  } catch (error) {
    if (interruption.signal.aborted) host.terminal.print('\nAuthentication cancelled by user.');
    else host.terminal.print(`Authentication failed: ${plain(textOf(error))}`);
    return null;
  } finally {
    interruption.release();
  }
}

async function store(host: Host, login: StoredLogin): Promise<void> {
  const { terminal } = host;
  const former = readLogin(host);
  terminal.print('\nLogin successful!');
  terminal.print(`JWT Token: ${(login.key ?? '').slice(0, 20)}...`);
  try {
    writeLogin(host, login);
  } catch (error) {
    terminal.print(
      `Signed in, but the credential could not be saved: ${textOf(error)}. Any login you already had is untouched.`,
    );
    return;
  }
  terminal.print(storageNotice(host));
  terminal.print('You can now use the CLI without specifying --api-key');
  terminal.print(`\n${SEPARATOR}`);
  // A failed revocation is ignored: the former refresh token is no longer used, and it expires.
  if (former !== null) await revoke(former).catch(() => {});
}

async function logOut({ host }: Context): Promise<void> {
  const { terminal } = host;
  const login = readLogin(host);
  if (login !== null)
    await revoke(login).catch((error: unknown) => {
      if (error instanceof HttpFailure && error.status === UNAVAILABLE)
        throw new CommandFailure(
          `The refresh token could not be revoked (${textOf(error)}). You are still logged in. Run 'lite logout' again later.`,
        );
      terminal.print(
        `Could not revoke the refresh token on the proxy (${plain(textOf(error))}); it expires on its own.`,
      );
    });
  removeLogin(host);
  terminal.print('Logged out successfully. Authentication token cleared.');
}

const hoursText = (seconds: number): string => (seconds / 3_600).toFixed(1);

function whoAmI({ host }: Context): void {
  const { terminal } = host;
  const login = readLogin(host);
  if (login === null) return terminal.print("Not authenticated. Run 'lite login' to authenticate.");
  const now = host.nowMs() / 1_000;
  terminal.print(login.key === null ? 'Signed in, but the credential cannot be read' : 'Authenticated');
  terminal.print(`User Email: ${plain(login.userEmail || 'Unknown')}`);
  terminal.print(`User ID: ${plain(login.userId || 'Unknown')}`);
  terminal.print(`User Role: ${plain(login.userRole || 'Unknown')}`);
  if (login.teamId) terminal.print(`Team ID: ${plain(login.teamId)}`);
  terminal.print(`Token age: ${hoursText(now - login.timestamp)} hours`);
  if (login.key === null) return terminal.print(KEYCHAIN_NOTICE);
  const hours = loginHours(host);
  if (login.expiresAt === null) {
    if (isExpired(host, login)) terminal.print(`Warning: Token is more than ${hours} hours old and may have expired.`);
    return;
  }
  const renewed = login.renewal === null ? '' : ', renewed on next use';
  const remaining = login.expiresAt - now;
  terminal.print(remaining > 0 ? `Key expires in: ${hoursText(remaining)} hours${renewed}` : `Key expired${renewed}`);
}

async function printToken({ host, baseUrl, isExplicitUrl }: Context): Promise<void> {
  const { terminal } = host;
  const refuse = (text: string): never => {
    terminal.note(text);
    throw new Ended(1);
  };
  const login = readLogin(host);
  if (login === null) return refuse("Not authenticated. Run 'lite login'.");
  if (isExplicitUrl && login.baseUrl !== baseUrl) return refuse("Not authenticated for this server. Run 'lite login'.");
  if (login.key === null) return refuse(KEYCHAIN_NOTICE);
  if (login.renewal === null && isExpired(host, login)) return refuse("Token expired. Run 'lite login' again.");
  const key = await freshKey(host, login);
  if (key === null) return refuse("Key expired. Run 'lite login --pkce' again.");
  terminal.print(key);
}

async function runLogin(context: Context, isPkce: boolean, withClaude: boolean): Promise<void> {
  const key = await logIn(context, isPkce);
  if (key === null || !withClaude) return;
  configureClaude(context.host, { baseUrl: context.baseUrl, key, model: null });
  context.host.terminal.print('Run it again after the key expires.');
}

export const loginCommands: readonly Command[] = [
  {
    names: ['login'],
    summary: 'Sign in through your browser, and store the key',
    options: {
      'config-claude': { type: 'boolean', help: "Write the key into Claude Code's settings, too" },
      pkce: { type: 'boolean', help: 'OAuth authorization code with PKCE, with a key that renews itself' },
    },
    run: (context, values) => runLogin(context, values.flag('pkce'), values.flag('config-claude')),
  },
  { names: ['logout'], summary: 'Revoke and remove the stored login', run: logOut },
  { names: ['whoami'], summary: 'Show the stored login', run: whoAmI },
  {
    names: ['auth', 'print-token'],
    summary: 'Print a valid key of the stored login, such as for apiKeyHelper',
    run: printToken,
  },
];
