import type { JsonObject } from '../json-object.ts';
import { assertStorable } from '../budgets/limits.ts';
import type { Deployment } from '../chat/provider.ts';
import { type Parameters, splitParameters, patchedParameters } from '../deployments/parameters.ts';
import { Conflict, InvalidInput } from '../errors.ts';
import { nullIfBlank } from '../optional-text.ts';
import { type Authored, newStamps, type RowStore, type Stamps } from '../row-store.ts';

/**
 * A credential of the configuration file, or the same members of a stored one. Deployments and pass-through routes
 * refer to its values by the id.
 */
export interface DeclaredCredential extends Parameters {
  readonly id: string;
  /** Facts that are not secret, e.g. `description`. */
  readonly info: JsonObject;
}

/** A stored credential. */
export interface Credential extends DeclaredCredential, Stamps {
  readonly displayName: string | null;
  /**
   * Whether its values could not be decrypted, because they were encrypted with another salt key. If so, `params` and
   * `secrets` are empty.
   */
  readonly unreadable: boolean;
}

/**
 * Changes to a credential. An absent member is unchanged. In `values`, null removes an entry; in `info`, null is
 * stored.
 */
export interface CredentialPatch {
  readonly displayName?: string | null;
  readonly values?: JsonObject;
  readonly info?: JsonObject;
}

/** Filter of credentials: null lists all. */
interface CredentialFilter {
  readonly ids: readonly string[] | null;
}

/** Persistent credentials. */
export interface CredentialStore extends RowStore<Credential, CredentialFilter> {
  /** Version text. It differs after every change of any row, also by another process. */
  fingerprint(): Promise<string>;
}

/**
 * Finds the values of credentials. A credential of the configuration file takes precedence over a stored one. Stored
 * values are at most a few seconds old.
 */
export interface CredentialFinder {
  /** Null when no credential has the name, or its values could not be decrypted. */
  find(name: string): Parameters | null;
  /**
   * The first credential of the file, or the oldest readable stored one, whose info names the provider in
   * `custom_llm_provider`; null when none does.
   */
  firstOf(provider: string): Parameters | null;
  /** Credentials of the configuration file, in its order. */
  declared(): readonly DeclaredCredential[];
}

/** A credential of the configuration file, or a stored one. */
export interface KnownCredential extends DeclaredCredential {
  readonly displayName: string | null;
  /** Null for a credential of the file. */
  readonly stored: Stamps | null;
  /** Whether there is also a stored credential of this name, which is not used. */
  readonly isStoredIgnored: boolean;
}

/** A stored credential that is used. */
export const storedCredential = (row: Credential): KnownCredential => ({ ...row, stored: row, isStoredIgnored: false });

/** Credentials of the file in its order, then stored ones of other names. */
export function knownCredentials(
  declared: readonly DeclaredCredential[],
  stored: readonly Credential[],
): readonly KnownCredential[] {
  const storedIds = new Set(stored.map(({ id }) => id));
  const declaredIds = new Set(declared.map(({ id }) => id));
  return [
    ...declared.map((one) => ({ ...one, displayName: null, stored: null, isStoredIgnored: storedIds.has(one.id) })),
    ...stored.filter(({ id }) => !declaredIds.has(id)).map(storedCredential),
  ];
}

/** A new credential. Throws InvalidInput. */
export function newCredential(patch: CredentialPatch, about: Authored & { readonly id: string }): Credential {
  if (nullIfBlank(about.id) === null) throw new InvalidInput('The name of a credential must not be blank.');
  assertStorable({ credential_name: about.id, display_name: patch.displayName });
  return {
    id: about.id,
    displayName: patch.displayName ?? null,
    info: patch.info ?? {},
    unreadable: false,
    ...splitParameters(patch.values ?? {}),
    ...newStamps(about),
  };
}

/** A credential with a patch applied. Throws InvalidInput, and Conflict where its values could not be decrypted. */
export function patchedCredential(before: Credential, patch: CredentialPatch, { now, by }: Authored): Credential {
  if (before.unreadable)
    throw new Conflict(`The credential ${before.id} was stored with another salt key. Delete it and create it again.`);
  assertStorable({ display_name: patch.displayName });
  return {
    ...before,
    displayName: patch.displayName === undefined ? before.displayName : patch.displayName,
    info: { ...before.info, ...patch.info },
    ...patchedParameters(before, patch.values ?? {}),
    updatedAt: now,
    updatedBy: by,
  };
}

/** The parameters of a deployment that are its address and account. `max_tokens` is no such parameter. */
export const credentialOf = ({ apiKey, apiBase, options, secrets }: Deployment): Parameters => {
  const { max_tokens: _limit, ...account } = options;
  const revealed = Object.entries(secrets).map(([name, secret]) => [name, secret.reveal()] as const);
  return splitParameters({
    ...(apiKey === null ? {} : { api_key: apiKey.reveal() }),
    ...(apiBase === null ? {} : { api_base: apiBase }),
    ...account,
    ...Object.fromEntries(revealed),
  });
};
