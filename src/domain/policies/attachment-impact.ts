import { type AttachmentRules, type CallFacts, matchedVia } from './attachment.ts';

/** Facts of the calls of a key that do not depend on the request. */
export type KeyFacts = Pick<CallFacts, 'keyAlias' | 'teamAlias' | 'teamId' | 'tags'>;
/** Facts of the calls of all keys of a team. */
export interface TeamFacts extends Pick<CallFacts, 'teamAlias' | 'tags'> {
  readonly teamId: string;
}

/** Rows to which an attachment would apply. */
export interface AffectedRows {
  readonly count: number;
  /** Number of the counted rows that have no alias. */
  readonly unnamed: number;
  /** Aliases of the first counted rows that have one. */
  readonly sample: readonly string[];
}

/** Keys and teams to whose calls an attachment would apply. */
export interface AttachmentImpact {
  readonly keys: AffectedRows;
  readonly teams: AffectedRows;
}

/** Maximum number of aliases of a sample. */
const MAX_SAMPLE = 10;
const NO_ROWS: AffectedRows = { count: 0, unnamed: 0, sample: [] };

const withRow = ({ count, unnamed, sample }: AffectedRows, alias: string | null): AffectedRows => ({
  count: count + 1,
  unnamed: alias === null ? unnamed + 1 : unnamed,
  sample: alias === null || sample.length >= MAX_SAMPLE ? sample : [...sample, alias],
});

/** Whether an attachment applies to calls of every key: it names no team, key or tag. */
export const affectsEveryKey = ({ teams, keys, tags }: AttachmentRules): boolean =>
  teams.length + keys.length + tags.length === 0;

/**
 * Counts keys and teams to whose calls an attachment would apply. A key can call any model, so models are not compared.
 * Tags are those of keys, teams and projects, without the tags of requests. With `keys` in the rules, the teams are
 * those of the counted keys.
 */
export function countImpact(rules: AttachmentRules) {
  const ofKeys = { ...rules, models: [] };
  const ofTeams = { ...ofKeys, keys: [] };
  const teamsOfKeys = new Set<string>();
  let keys = NO_ROWS;
  let teams = NO_ROWS;
  return {
    addKey(facts: KeyFacts): void {
      if (matchedVia(ofKeys, { ...facts, model: null }) === null) return;
      keys = withRow(keys, facts.keyAlias);
      if (facts.teamId !== null) teamsOfKeys.add(facts.teamId);
    },
    /** Add teams after all keys. */
    addTeam(facts: TeamFacts): void {
      const isAffected =
        rules.keys.length > 0
          ? teamsOfKeys.has(facts.teamId)
          : matchedVia(ofTeams, { ...facts, keyAlias: null, model: null }) !== null;
      if (isAffected) teams = withRow(teams, facts.teamAlias);
    },
    impact: (): AttachmentImpact => ({ keys, teams }),
  };
}
