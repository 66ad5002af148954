import { z } from 'zod';
import type { DeclaredCredential } from '../../domain/credentials/credential.ts';
import { partedParameters } from '../../domain/deployments/parameters.ts';
import type { ConfigDocument } from './config-document.ts';
import type { ConfigFault } from './config-fault.ts';
import type { Path } from './config-references.ts';

const SECTION = 'credential_list';

/** An entry of `credential_list`. */
export const credentialEntry = z.looseObject({
  credential_name: z.string().trim().min(1),
  credential_values: z.record(z.string(), z.unknown()).nullish(),
  credential_info: z.record(z.string(), z.unknown()).nullish(),
});

/** The credentials of `credential_list`; empty when one is wrong, with a fault for each. */
export function readCredentialList(
  document: ConfigDocument,
  fault: (fault: ConfigFault) => void,
): readonly DeclaredCredential[] {
  const refuse = (path: Path, message: string): void => {
    const place = [SECTION, ...path];
    const key = place.join('.');
    // A reference to an unset variable is reported already.
    if (!document.faults.some((known) => known.key === key)) fault({ ...document.placeOf(place), key, message });
  };
  const parsed = z.array(credentialEntry).nullish().safeParse(document.content[SECTION]);
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
  return entries.map((one) => ({
    id: one.credential_name,
    info: one.credential_info ?? {},
    ...partedParameters(one.credential_values ?? {}),
  }));
}
