import { InvalidInput } from '../errors.ts';
import type { VirtualKey } from './virtual-key.ts';

type Body = Readonly<Record<string, unknown>>;

/** The value at a path such as `metadata.user`; undefined where there is none. */
function valueAt(body: Body, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => {
    const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
    return isObject ? (value as Body)[name] : undefined;
  }, body);
}

/** Refuses a call without the members that a key demands by `enforced_params` of its metadata. */
export function assertEnforcedParams(key: VirtualKey | null, body: Body): void {
  const demanded = key?.metadata['enforced_params'];
  if (!Array.isArray(demanded)) return;
  for (const path of demanded) {
    if (typeof path !== 'string' || valueAt(body, path) !== undefined) continue;
    throw new InvalidInput(`BadRequest please pass param=${path} in request body. This is a required param`);
  }
}
