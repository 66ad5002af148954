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
 * The credentials of `credential_list`; empty when an entry has a wrong form. `fault` receives each wrong form and each
 * repeated name. `faultIfStrict` receives each reference to an unset or empty variable. Such a reference stops the
 * start where the configuration is strict, and is a warning elsewhere. Members of `credential_values` with an empty
 * value are left out.
 */
export function readCredentialList(
  document: ConfigDocument,
  { fault, faultIfStrict }: Readonly<Record<'fault' | 'faultIfStrict', (fault: ConfigFault) => void>>,
): readonly DeclaredCredential[] {
  const faultAt = (path: Path, message: string): ConfigFault => {
    const place = [SECTION, ...path];
    return { ...document.placeOf(place), key: place.join('.'), message };
  };
  const parsed = z.array(credentialEntry).nullish().safeParse(document.content[SECTION], { error: shapeMessages });
  if (!parsed.success) {
    for (const issue of parsed.error.issues) {
      const path = issue.path.map((part) => (typeof part === 'symbol' ? part.toString() : part));
      const variable = unsetVariable(
        path.reduce<unknown>(memberAt, document.declared[SECTION]),
        path.reduce<unknown>(memberAt, document.content[SECTION]),
      );
      fault(faultAt(path, variable === null ? issue.message : notSet(variable)));
    }
    return [];
  }
  const entries = parsed.data ?? [];
  for (const [index, { credential_name: name }] of entries.entries())
    if (entries.findIndex((one) => one.credential_name === name) < index)
      fault(faultAt([index, 'credential_name'], `an earlier entry has the name '${name}', too`));
  for (const { path, variable } of unsetReferences(document.declared[SECTION], document.content[SECTION], []))
    faultIfStrict(faultAt(path, notSet(variable)));
  return entries.map((one) => ({
    id: one.credential_name,
    info: one.credential_info ?? {},
    ...splitParameters(
      Object.fromEntries(Object.entries(one.credential_values ?? {}).filter(([, value]) => value !== '')),
    ),
  }));
}

const notSet = (variable: string): string => `the environment variable ${variable} it refers to is not set`;

/** The variable that a declared value refers to, if its resolved value is empty; null for any other value. */
const unsetVariable = (declared: unknown, resolved: unknown): string | null =>
  resolved === '' && typeof declared === 'string' ? (REFERENCE.exec(declared)?.[1] ?? null) : null;

/**
 * References without a value in a declared value, at any depth. `resolved` is the same value with resolved references.
 */
function unsetReferences(
  declared: unknown,
  resolved: unknown,
  path: Path,
): readonly { readonly path: Path; readonly variable: string }[] {
  const variable = unsetVariable(declared, resolved);
  if (variable !== null) return [{ path, variable }];
  if (typeof declared !== 'object' || declared === null) return [];
  return Object.entries(declared).flatMap(([name, inner]) => {
    const key = Array.isArray(declared) ? Number(name) : name;
    return unsetReferences(inner, memberAt(resolved, key), [...path, key]);
  });
}

const memberAt = (value: unknown, name: string | number): unknown =>
  typeof value === 'object' && value !== null ? (Reflect.get(value, name) as unknown) : undefined;
