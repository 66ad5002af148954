import type { JsonObject } from '../json-object.ts';
import type { Deployment } from '../chat/provider.ts';
import { vendorOf } from '../chat/vendors.ts';
import { InvalidInput, type Issue } from '../errors.ts';

/** A key with its team, if any; null for a caller without a virtual key, such as the admin key. */
type KeyTeam = { readonly teamId: string | null } | null;

/** A deployment of one team, or a common one. */
interface Owned {
  readonly teamId?: string | null;
}

/** Whether a deployment is common, or belongs to the team of a key. */
export const isCommonOrOfTeam = (key: KeyTeam, { teamId = null }: Owned): boolean =>
  teamId === null || key?.teamId === teamId;

/**
 * The deployments that a key can select by name: those of its team, and common ones whose names its team does not use.
 */
export function deploymentsFor<Of extends Owned & Pick<Deployment, 'modelGroup'>>(
  key: KeyTeam,
  deployments: readonly Of[],
): readonly Of[] {
  const isCommon = ({ teamId = null }: Of): boolean => teamId === null;
  if (deployments.every(isCommon)) return deployments;
  const found = deployments.filter((one) => isCommonOrOfTeam(key, one));
  const namesOfTeam = new Set(found.filter((one) => !isCommon(one)).map(({ modelGroup }) => modelGroup));
  return found.filter((one) => !isCommon(one) || !namesOfTeam.has(one.modelGroup));
}

/** Index of public names and wildcards. */
class Names {
  readonly #exact: ReadonlySet<string>;
  readonly #wildcards: readonly string[];

  constructor(names: readonly string[]) {
    this.#exact = new Set(names);
    this.#wildcards = names.filter((name) => name.endsWith('*'));
  }

  /**
   * Rank of the match of a name: Infinity for an exact name, the length of the longest matching wildcard, or -1 without
   * a match.
   */
  rank(name: string): number {
    if (this.#exact.has(name)) return Infinity;
    return Math.max(-1, ...this.#wildcards.flatMap((one) => (name.startsWith(one.slice(0, -1)) ? [one.length] : [])));
  }
}

/**
 * Returns a function that decides whether a name selects a model of a team. It applies the rules of calls: exact names
 * precede wildcards, longer wildcards precede shorter ones, names of the team precede common ones. `open` are the
 * deployments that may be called; `all` includes blocked ones. A name that only blocked deployments of the team match
 * selects the team's model if it matches no common deployment.
 */
export function teamModelFinder(
  open: readonly Deployment[],
  all: readonly Deployment[],
): (teamId: string, model: string) => boolean {
  const namesOf = (of: readonly Deployment[], teamId: string | undefined): Names =>
    new Names(of.filter((one) => one.teamId === teamId).map(({ modelGroup }) => modelGroup));
  const ids = new Set(all.flatMap(({ teamId }) => (teamId === undefined ? [] : [teamId])));
  if (ids.size === 0) return () => false;
  const common = namesOf(open, undefined);
  const teams = new Map([...ids].map((id) => [id, { open: namesOf(open, id), all: namesOf(all, id) }]));
  return (teamId, model) => {
    const namesOfTeam = teams.get(teamId);
    if (namesOfTeam === undefined) return false;
    const [teamRank, commonRank] = [namesOfTeam.open.rank(model), common.rank(model)];
    if (teamRank >= 0) return teamRank >= commonRank;
    const matchesBlocked = namesOfTeam.all.rank(model) >= 0;
    return commonRank < 0 && matchesBlocked;
  };
}

/** The team that `model_info` names; null for none. */
export const teamOfInfo = ({ team_id: id }: JsonObject): string | null =>
  typeof id === 'string' && id !== '' ? id : null;

/** The name by which callers know a model: for the model of a team, the one that its team sees. */
export function publicNameOf(name: string, info: JsonObject): string {
  const { team_public_model_name: shown } = info;
  return teamOfInfo(info) !== null && typeof shown === 'string' && shown !== '' ? shown : name;
}

/** Member of the stored `model_info` that marks a model of a team administrator. Requests cannot set it. */
export const MADE_BY_TEAM = 'made_by_team';

/** Parameters that a team administrator may send. Others could reach the accounts or the network of the operator. */
const TEAM_PARAMS = new Set([
  'model',
  'api_key',
  'api_base',
  'api_version',
  'drop_params',
  'max_tokens',
  'num_retries',
  'organization',
  'rpm',
  'stream_timeout',
  'timeout',
  'tpm',
  'use_chat_completions_api',
]);

/** Whether a text, or a text in a list or map, is a reference to a variable of the server. */
function refersToVariable(value: unknown): boolean {
  if (typeof value === 'string') return value.startsWith('os.environ/');
  return typeof value === 'object' && value !== null && Object.values(value).some(refersToVariable);
}

/**
 * Checks the parameters of a model that a team administrator made. Throws InvalidInput for those that would use keys,
 * variables or stored credentials of the operator, or set prices. Proxy administrators may not add them to such a model
 * either, because the team chose the address of the model.
 */
export function assertTeamParams(params: JsonObject, deployment: Pick<Deployment, 'provider' | 'baseModel'>): void {
  const issues: Issue[] = [];
  const note = (name: string, message: string, map = 'litellm_params'): void => {
    issues.push({ path: ['body', map, name], rule: 'value_error', message: `Value error, ${message}` });
  };
  for (const [name, value] of Object.entries(params)) {
    if (!TEAM_PARAMS.has(name)) note(name, 'a model that a team administrator made cannot have this');
    else if (refersToVariable(value)) note(name, 'only proxy admins may refer to variables of the server');
  }
  if (deployment.baseModel !== null) note('base_model', 'only proxy admins may choose the prices', 'model_info');
  if (deployment.provider === 'demo' || Object.keys(vendorOf(deployment.provider)?.credentials ?? {}).length > 0)
    note('model', `only proxy admins may add models of the provider ${deployment.provider}`);
  if (typeof params['api_key'] !== 'string' || params['api_key'] === '')
    note('api_key', 'the model of a team needs a key of its own');
  const [first] = issues;
  if (first !== undefined) throw new InvalidInput(`${first.path.slice(1).join('.')}: ${first.message}`, issues);
}
