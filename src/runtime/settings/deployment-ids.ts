import { createHash } from 'node:crypto';
import type { Deployment } from '../../domain/chat/provider.ts';

/** A deployment of the file. Its id is null where the file has none. */
export type DeploymentDraft = Omit<Deployment, 'id'> & { readonly id: string | null };

/** Options that are part of the place of a deployment: its account, region or address. */
const PLACE_OPTIONS = [
  'organization',
  'aws_region_name',
  'aws_bedrock_runtime_endpoint',
  'vertex_project',
  'vertex_location',
] as const;

/** Hex digits of the hash of a place. */
const PLACE_DIGITS = 12;
/** Hex digits of the hash of an account. They are too few to reveal the credential. */
const ACCOUNT_DIGITS = 4;

const digest = (parts: readonly unknown[], digits: number): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, digits);

/**
 * Id from the model, the provider and the address of a deployment. It does not depend on the position in the file or
 * the credential.
 */
function placeIdOf({ modelGroup, provider, upstreamModel, apiBase, options }: DeploymentDraft): string {
  const place = PLACE_OPTIONS.map((name) => options[name] ?? null);
  return `${modelGroup}#${digest([modelGroup, provider, upstreamModel, apiBase, ...place], PLACE_DIGITS)}`;
}

/** Options that identify the account at the provider. */
const ACCOUNT_OPTIONS = ['aws_profile_name', 'aws_role_name'] as const;

/** Hash that distinguishes accounts at one address. */
const accountOf = ({ apiKey, secrets, options }: DeploymentDraft): string =>
  digest(
    [
      apiKey?.reveal() ?? null,
      options['aws_access_key_id'] ?? null,
      ...ACCOUNT_OPTIONS.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
      ...Object.entries(secrets).map(([name, secret]) => [name, secret.reveal()]),
    ],
    ACCOUNT_DIGITS,
  );

/**
 * Gives every deployment an id. Deployments of one place with different credentials get a hash of the credential.
 * Deployments with the same place and credential are numbered in the order of the file.
 */
export function withIds(drafts: readonly DeploymentDraft[]): readonly Deployment[] {
  const withoutId = drafts.filter(({ id }) => id === null);
  /** Hashes of the accounts at each place. */
  const accountsByPlace = new Map<string, Set<string>>();
  for (const [place, members] of Map.groupBy(withoutId, placeIdOf))
    accountsByPlace.set(place, new Set(members.map(accountOf)));
  const usedCounts = new Map<string, number>();
  const seenPlaces = new Set<string>();
  return drafts.map((draft, index): Deployment => {
    const { id, ...deployment } = draft;
    if (id !== null) return { ...deployment, id };
    const place = placeIdOf(draft);
    const isAmbiguous = (accountsByPlace.get(place)?.size ?? 0) > 1;
    const baseId = isAmbiguous ? `${place}-${accountOf(draft)}` : place;
    const count = (usedCounts.get(baseId) ?? 0) + 1;
    usedCounts.set(baseId, count);
    // Before a second account was added, the first deployment of the place had the id of the place.
    const idWithoutAccount = isAmbiguous && !seenPlaces.has(place) ? [place] : [];
    seenPlaces.add(place);
    // Old versions made ids from the position in the file.
    const formerIds = [...idWithoutAccount, `${deployment.modelGroup}#${index + 1}`];
    return { ...deployment, id: count === 1 ? baseId : `${baseId}-${count}`, formerIds };
  });
}
