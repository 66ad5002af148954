import type { JsonObject } from '../src/domain/json-object.ts';
import type { Probe } from '../src/domain/deployments/probe.ts';
import { splitParameters, revealedParameters } from '../src/domain/deployments/parameters.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { modelAdmin } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { ConnectionTestPlatform } from './operation/model-platform.ts';
import type { Scope } from './operation/scope.ts';

/** Parameters of a model. The model need not be stored. */
export interface ConnectionDraft {
  /** Name of the model, with the name of its provider in front. */
  readonly model: string;
  readonly params: JsonObject;
  /** Facts about the model, e.g. its mode. */
  readonly info: JsonObject;
}

/** Result of a test. `probe` is the reason as text when no request was sent. */
export interface TestedConnection {
  readonly model: string;
  readonly apiBase: string | null;
  readonly probe: Probe | string;
}

const CREDENTIAL = 'litellm_credential_name';

/** Adds the values of the credential that `litellm_credential_name` names. Throws InvalidInput for an unknown one. */
function withCredential({ platform }: Scope<ConnectionTestPlatform>, params: JsonObject): JsonObject {
  const { [CREDENTIAL]: name, ...own } = params;
  if (typeof name !== 'string') return params;
  const credential = platform.credentials.find(name);
  if (credential !== null) return { ...revealedParameters(credential), ...own };
  const message = `Value error, the credential ${name} does not exist`;
  const path = ['body', 'litellm_params', CREDENTIAL];
  throw new InvalidInput(`The credential ${name} does not exist.`, [{ path, rule: 'value_error', message }]);
}

/**
 * Sends one small request with the parameters of a model, at the cost of the caller. Nothing is stored. Throws
 * InvalidInput for invalid parameters, and LimitExceeded. A failure of the upstream is a result, not an error.
 */
export const testConnection = operation({
  name: 'testConnection',
  access: modelAdmin,
  async run(scope: Scope<ConnectionTestPlatform>, { model, params, info }: ConnectionDraft): Promise<TestedConnection> {
    const { deploymentReader, gateway } = scope.platform;
    const parameters = splitParameters(withCredential(scope, { ...params, model }));
    const deployment = deploymentReader.read({ id: 'connection-test', modelGroup: model, info, ...parameters });
    const probe = await gateway.probeOnce(callerOf(scope), deployment, scope.signal);
    return { model, apiBase: deployment.apiBase, probe };
  },
});
