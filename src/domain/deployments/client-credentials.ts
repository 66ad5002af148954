import type { ModelRequest } from '../chat/chat.ts';
import type { Deployment } from '../chat/provider.ts';
import { vendorOf } from '../chat/vendors.ts';
import { InvalidInput, Unauthenticated } from '../errors.ts';

/** Credentials that callers can send. */
export const CLIENT_CREDENTIALS = ['api_key', 'api_base'] as const;
type ClientCredential = (typeof CLIENT_CREDENTIALS)[number];

/** Settings of a deployment that also apply to calls with a caller's credentials. */
const KEPT_OPTIONS = new Set(['api_version', 'max_tokens']);

/**
 * The deployment with the caller's key or address in place of all configured credentials. With `allowedToAll`, every
 * deployment accepts both. Calls to the result do not count for the health of the deployment. Throws InvalidInput where
 * the configuration does not allow the key, or the provider needs other credentials. Throws Unauthenticated where the
 * configuration does not allow the address.
 */
export function withClientCredentials(
  deployment: Deployment,
  { credentials, endpoint }: Pick<ModelRequest, 'credentials' | 'endpoint'>,
  allowedToAll: boolean,
): Deployment {
  if (credentials === undefined || credentials === null) return deployment;
  const { apiKey, apiBase } = credentials;
  const sent = CLIENT_CREDENTIALS.filter((member) => (member === 'api_key' ? apiKey : apiBase) !== null);
  const allowed = allowedToAll ? CLIENT_CREDENTIALS : (deployment.clientCredentials ?? []);
  const refused = sent.find((member) => !allowed.includes(member));
  if (refused === 'api_base')
    throw new Unauthenticated(
      `Rejected Request: api_base is not allowed in request body: ${NOT_CONFIGURED}.`,
      'malformed',
    );
  if (refused !== undefined) throw notAllowed(refused, endpoint.path, NOT_CONFIGURED);
  const [first] = sent;
  if (first !== undefined && !isCalledByKey(deployment))
    throw notAllowed(
      first,
      endpoint.path,
      `the provider ${deployment.provider} is not called by key and address alone`,
    );
  const { options } = deployment;
  return {
    ...deployment,
    id: `${deployment.id}:client`,
    apiKey,
    ...(apiBase === null ? {} : { apiBase, addressByCaller: true }),
    secrets: {},
    options: Object.fromEntries(Object.entries(options).filter(([name]) => KEPT_OPTIONS.has(name))),
  };
}

const NOT_CONFIGURED =
  'the configuration does not allow it (general_settings.allow_client_side_credentials, or configurable_clientside_auth_params of the model)';

/**
 * Whether calls to the provider need a key and no other credential. For other providers, credentials of the machine or
 * of an account could be sent to the caller's address.
 */
function isCalledByKey({ provider }: Deployment): boolean {
  const vendor = vendorOf(provider);
  if (vendor === null) return provider !== 'demo';
  return vendor.keyVariables.length > 0 && Object.keys(vendor.credentials).length === 0;
}

function notAllowed(member: ClientCredential, path: string, why: string): InvalidInput {
  const message = `${path}: The parameter '${member}' cannot be honoured: ${why}.`;
  return new InvalidInput(message, [{ path: ['body', member], rule: 'unsupported', message }]);
}
