import { isJsonObject } from '../../domain/json-object.ts';
import { z } from 'zod';
import type { Deployment } from '../../domain/chat/provider.ts';
import { rateFrom } from '../../domain/money.ts';
import type { ConfigDocument } from './config-document.ts';
import type { ConfigFault } from './config-fault.ts';
import type { Path } from './config-references.ts';
import { refuseFaultyRouters } from './auto-routers.ts';
import { withIds } from './deployment-ids.ts';
import { OMITTED, mappedInner } from './mapped-inner.ts';
import { shapeMessages } from './shape-faults.ts';
import { addressFault, modelEntry, keyWarningOf, toDeployment } from './deployments.ts';

const MODELS = z.object({ model_list: z.array(modelEntry).nullish() });

/** Settings for reading the models of the file, and receivers of their faults. */
interface ModelReading {
  readonly dropParams: boolean;
  /** Whether callers may send their own keys and addresses. */
  readonly hasClientCredentials: boolean;
  readonly env: NodeJS.ProcessEnv;
  /** A wrong value, which stops the start. */
  readonly fault: (fault: ConfigFault) => void;
  /** A model that cannot be called, which stops the start only where the configuration is strict. */
  readonly faultIfStrict: (fault: ConfigFault) => void;
  readonly warn: (text: string) => void;
}

const IN_MODEL = /^model_list\.(\d+)\.(.+)$/;
/** Required members of an entry. */
const REQUIRED = new Set(['model_name', 'litellm_params.model']);

/**
 * Whether a reference to an unset variable makes only one model uncallable. Such a fault stops the start only where the
 * configuration is strict.
 */
export function isModelFault({ key }: ConfigFault): boolean {
  const name = IN_MODEL.exec(key)?.[2];
  return name !== undefined && !REQUIRED.has(name);
}

/** Member whose content is sent in requests: null inside it is kept as a value. */
const REQUEST_MEMBER = 'health_check_params';

/**
 * The value without members that are null or refer to unset variables. `at` is the dotted path of the value. With
 * `keepsNull`, members that are null stay.
 */
function withoutUnset(value: unknown, unset: ReadonlySet<string>, at: string, keepsNull = false): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const isList = Array.isArray(value);
  return mappedInner(value, (inner, key) => {
    const path = `${at}.${key}`;
    const isUnset = (inner === null && !keepsNull) || (unset.size > 0 && unset.has(path));
    if (isUnset && !isList) return OMITTED;
    return withoutUnset(inner, unset, path, keepsNull || key === REQUEST_MEMBER);
  });
}

/** The deployments of `model_list`; empty when an entry has a wrong form. Functions of `about` receive the faults. */
export function readModels(document: ConfigDocument, about: ModelReading): readonly Deployment[] {
  const unset = document.faults.filter(isModelFault);
  const refuse = (path: Path, message: string): void => {
    const key = path.join('.');
    // A reference to an unset variable is reported already.
    if (!document.faults.some((known) => known.key === key)) about.fault({ ...document.placeOf(path), key, message });
  };
  const keys = new Set(unset.map(({ key }) => key));
  const models = withoutUnset(document.content['model_list'], keys, 'model_list');
  const parsed = MODELS.safeParse({ model_list: models }, { error: shapeMessages });
  if (!parsed.success) {
    for (const { path, message } of parsed.error.issues)
      refuse(
        path.map((part) => (typeof part === 'symbol' ? part.toString() : part)),
        `${message}${indentHint(models, path)}`,
      );
    return [];
  }
  const entries = parsed.data.model_list ?? [];
  const deployments = withIds(entries.map((entry) => toDeployment(entry, about)));
  for (const [index, { priceOverrides }] of deployments.entries())
    for (const [name, price] of Object.entries(priceOverrides))
      if (!isPrice(price)) refuse(['model_list', index, 'litellm_params', name], 'is not a price in USD');
  refuseFaultyRouters(entries, deployments, { refuse, warn: about.warn });
  return deployments.map((deployment, index) => {
    const fault = faultOf(deployment, index, { document, unset, about });
    if (fault === null) return deployment;
    about.faultIfStrict(fault);
    return { ...deployment, misconfigured: fault.message };
  });
}

/** Hint for parameters with the same indentation as `litellm_params`. */
function indentHint(models: unknown, [, index, name, ...below]: readonly PropertyKey[]): string {
  if (name !== 'litellm_params' || below.length > 0 || !Array.isArray(models)) return '';
  const entry: unknown = models[Number(index)];
  return isJsonObject(entry) && Object.hasOwn(entry, 'model') ? '. Indent its lines deeper than `litellm_params:`' : '';
}

/** Why a deployment cannot be called, with its place; null where it can. */
function faultOf(
  deployment: Deployment,
  index: number,
  {
    document,
    unset,
    about,
  }: { readonly document: ConfigDocument; readonly unset: readonly ConfigFault[]; readonly about: ModelReading },
): ConfigFault | null {
  const path = ['model_list', index, 'litellm_params', 'model'];
  const at = (message: string): ConfigFault => ({ ...document.placeOf(path), key: path.join('.'), message });
  const unresolved = unset.find(({ key }) => IN_MODEL.exec(key)?.[1] === String(index));
  if (unresolved !== undefined) return unresolved;
  const { provider, apiBase, credentialName } = deployment;
  // The address may come from the credential.
  const fault = credentialName === undefined ? addressFault(provider, apiBase) : null;
  if (fault !== null) return at(fault);
  const warning = keyWarningOf(deployment, about.env);
  if (warning === null) return null;
  if (warning.isFault && !about.hasClientCredentials) return at(warning.text);
  about.warn(warning.text);
  return null;
}

/** Whether a value is a valid price. Lists of price tiers are not checked. */
export function isPrice(value: unknown): boolean {
  if (typeof value !== 'number' && typeof value !== 'string') return true;
  const rate = rateFrom(value);
  return rate !== null && rate >= 0n;
}
