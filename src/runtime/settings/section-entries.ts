import { createHash } from 'node:crypto';
import type { ConfigDocument } from './config-document.ts';
import type { ConfigFault } from './config-fault.ts';
import type { Path } from './config-references.ts';

// Shared by the readers of sections of the file, such as guardrails, MCP servers, agents and vector stores.

/** Receivers of the faults of a section. */
export interface FaultReceivers {
  /** A wrong value, which stops the start. */
  readonly fault: (fault: ConfigFault) => void;
  /** A value without an effect, which stops the start only where the configuration is strict. */
  readonly faultIfStrict: (fault: ConfigFault) => void;
}

/** A fault at a place of the file. */
export const faultAt = (document: ConfigDocument, place: Path, message: string): ConfigFault => ({
  ...document.placeOf(place),
  key: place.join('.'),
  message,
});

/** Whether the document already has a fault at the same key, such as a reference to a variable that is not set. */
export const isKnownFault = ({ faults }: ConfigDocument, { key }: ConfigFault): boolean =>
  faults.some((known) => known.key === key);

/** Path of an issue of `zod`, with symbols as texts. */
export const pathOfIssue = ({ path }: { readonly path: readonly PropertyKey[] }): Path =>
  path.map((part) => (typeof part === 'symbol' ? part.toString() : part));

/** Whether a section is absent, null, false or an empty text, and so has no entries. */
export const isOff = (section: unknown): boolean =>
  section === undefined || section === null || section === false || section === '';

/** Id of an entry for which the file configures none. Equal parts give an equal id in every process. */
export const stableId = (parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);

/** A reference to a variable inside a longer text, as in `Bearer os.environ/KEY`. */
const REFERENCE = /os\.environ\/([A-Za-z_]\w*)/g;

/**
 * Headers with the values of the variables that they refer to. A variable that is not set becomes an empty text, and
 * `unset` is called with the names of the header and the variable.
 */
export function headersWithVariables(
  headers: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv,
  unset: (name: string, variable: string) => void,
): Readonly<Record<string, string>> {
  const resolved = Object.entries(headers).map(([name, value]): [string, string] => {
    const text = value.replaceAll(REFERENCE, (_all, variable: string) => {
      if (!env[variable]) unset(name, variable);
      return env[variable] ?? '';
    });
    return [name, text];
  });
  return Object.fromEntries(resolved);
}
