/** What has a spend counter: keys, owners of keys, labels of calls (`tag`, `end_user`) and budget windows. */
export const SPENDERS = [
  'key',
  'team',
  'user',
  'member',
  'organization',
  'project',
  'tag',
  'end_user',
  'window',
] as const;
export type Spender = (typeof SPENDERS)[number];

/** Name of the counter of a spender. For a `member`, the id comes from `memberId`. */
export const spendCounter = (spender: Spender, id: string): string => `${spender}:${id}`;

/** The spend counter of a key. */
export const keyCounter = (keyHash: string): string => spendCounter('key', keyHash);

/** Id of a team member. JSON, because both ids may contain any separator. */
export const memberId = (teamId: string, userId: string): string => JSON.stringify([teamId, userId]);

/** Spender and id in the name of a counter. Throws TypeError for a name without a known prefix. */
export function spenderOf(counter: string): { readonly spender: Spender; readonly id: string } {
  const spender = SPENDERS.find((one) => counter.startsWith(`${one}:`));
  if (spender === undefined) throw new TypeError(`Unknown spend counter: ${counter}.`);
  return { spender, id: counter.slice(spender.length + 1) };
}

/** A key and its owners, to which a call is charged. */
export interface ChargedKey {
  readonly keyHash: string;
  readonly teamId: string | null;
  readonly userId: string | null;
  readonly organizationId: string | null;
  readonly projectId: string | null;
}

/** Spend counters of a key and its owners, without those of labels and budget windows. */
export function countersOf({ keyHash, teamId, userId, organizationId, projectId }: ChargedKey): readonly string[] {
  const counters = [keyCounter(keyHash)];
  if (teamId !== null) counters.push(spendCounter('team', teamId));
  if (userId !== null) counters.push(spendCounter('user', userId));
  if (teamId !== null && userId !== null) counters.push(spendCounter('member', memberId(teamId, userId)));
  if (organizationId !== null) counters.push(spendCounter('organization', organizationId));
  if (projectId !== null) counters.push(spendCounter('project', projectId));
  return counters;
}
