import { z } from 'zod';
import type { DeclaredCredential } from '../../domain/credentials/credential.ts';
import { splitParameters } from '../../domain/deployments/parameters.ts';
import type { ConfigDocument } from './config-document.ts';
import { shapeMessages } from './shape-faults.ts';
import type { ConfigFault } from './config-fault.ts';
import type { Path } from './config-references.ts';

const SECTION = 'credential_list';

/** An entry of `credential_list`. */
export const credentialEntry = z.looseObject({
  credential_name: z.string().trim().min(1),
  credential_values: z.record(z.string(), z.unknown()).nullish(),
  credential_info: z.record(z.string(), z.unknown()).nullish(),
});

/** A reference to an environment variable, as it is written. */
const REFERENCE = /^os\.environ\/(.+)$/;

/**
 * The credentials of `credential_list`; empty when an entry has a wrong form. `fault` receives each fault. `faultIfStrict` receives
 * each reference to a variable that is not set: that value is absent.
 */
export function readCredentialList(
  document: ConfigDocument,
  { fault, faultIfStrict }: Readonly<Record<'fault' | 'faultIfStrict', (fault: ConfigFault) => void>>,
): readonly DeclaredCredential[] {
  const refuse = (path: Path, message: string): void => {
    const place = [SECTION, ...path];
    const key = place.join('.');
    // A reference to an unset variable is reported already.
    if (!document.faults.some((known) => known.key === key)) fault({ ...document.placeOf(place), key, message });
  };
  const parsed = z.array(credentialEntry).nullish().safeParse(document.content[SECTION], { error: shapeMessages });
  if (!parsed.success) {
    for (const { path, message } of parsed.error.issues)
      refuse(
        path.map((part) => (typeof part === 'symbol' ? part.toString() : part)),
        message,
      );
    return [];
  }
  const entries = parsed.data ?? [];
  for (const [index, { credential_name: name }] of entries.entries())
    if (entries.findIndex((one) => one.credential_name === name) < index)
      refuse([index, 'credential_name'], `'${name}' is the name of an entry before`);
  const isSet =
    (index: number) =>
    ([name, value]: [string, unknown]): boolean => {
      if (value !== '') return true;
      const place = [SECTION, index, 'credential_values', name];
      const written: unknown = place.reduce<unknown>(memberAt, document.declared);
      const variable = typeof written === 'string' ? REFERENCE.exec(written)?.[1] : undefined;
      if (variable !== undefined) {
        const message = `the environment variable ${variable} it refers to is not set`;
        faultIfStrict({ ...document.placeOf(place), key: place.join('.'), message });
      }
      return false;
    };
  return entries.map((one, index) => ({
    id: one.credential_name,
    info: one.credential_info ?? {},
    ...splitParameters(Object.fromEntries(Object.entries(one.credential_values ?? {}).filter(isSet(index)))),
  }));
}

const memberAt = (value: unknown, name: string | number): unknown =>
  typeof value === 'object' && value !== null ? (Reflect.get(value, name) as unknown) : undefined;
