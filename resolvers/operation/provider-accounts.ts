import { Forbidden } from '../../src/domain/errors.ts';
import type { ForwardedProvider, ProviderAccount } from '../../src/domain/pass-through/providers.ts';
import type { PassThroughPlatform } from './platform.ts';
import type { Scope } from './scope.ts';

/** Names of providers in messages, where they differ from the names in the configuration. */
const NAMES: Readonly<Record<string, string>> = { cursor: 'Cursor' };

/** Error for a provider without an account. The message names the key, also when only the address is missing. */
export function noAccount({
  name,
  keyVariables,
  baseVariables,
  base,
  aws,
  regionVariables,
}: ForwardedProvider): Forbidden {
  const address = base === null ? (regionVariables ?? baseVariables).slice(0, 1) : [];
  const keyAndAddress = [...keyVariables.slice(-1), ...address];
  const names = aws === undefined ? keyAndAddress : ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];
  const variables = names.join(' and ');
  const message = `${NAMES[name] ?? name} API key not found. Store a credential of the provider \`${name}\` or set ${variables}.`;
  return new Forbidden(message, 'upstream_credential');
}

/** The account of a provider. Throws Forbidden where none is configured. */
export async function accountOf(
  { platform }: Scope<{ readonly accounts: Pick<PassThroughPlatform['accounts'], 'of'> }>,
  provider: ForwardedProvider,
): Promise<ProviderAccount> {
  const account = await platform.accounts.of(provider);
  if (account === null) throw noAccount(provider);
  return account;
}
