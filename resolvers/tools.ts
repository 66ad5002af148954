import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import { activityPeriodOf } from '../src/domain/gateway-activity/gateway-activity.ts';
import type { RowPage } from '../src/domain/row-store.ts';
import { periodOfDays } from '../src/domain/spend/report-dates.ts';
import {
  ALL_OVERRIDES,
  ALL_TOOLS,
  assertToolName,
  INPUT_POLICIES,
  MAX_NAMED_TOOLS,
  MAX_OVERRIDES,
  MAX_TOOL_NAME,
  MAX_TOOLS,
  namedTool,
  newOverride,
  OUTPUT_POLICIES,
  type OverrideScope,
  scopeText,
  type Tool,
  type ToolFilter,
  type ToolInputPolicy,
  type ToolOutputPolicy,
  type ToolOverride,
  type ToolPolicyPatch,
  type ToolSort,
  unknownTool,
} from '../src/domain/tools/tool.ts';
import {
  MAX_SPEND_DAYS,
  MAX_SPEND_TOOLS,
  type ToolCallEntry,
  type ToolCallPage,
  type ToolPeriod,
  type ToolSpend,
} from '../src/domain/tools/tool-use.ts';
import { system } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { findNamed } from './operation/key-lookup.ts';
import { operation } from './operation/operation.ts';
import { type FoundPage, pageOf } from './operation/row-pages.ts';
import type { Scope } from './operation/scope.ts';
import { toolAdmin, toolViewer } from './operation/tool-access.ts';
import type { ToolPlatform } from './operation/tool-platform.ts';

type ToolScope = Scope<ToolPlatform>;

interface NamedTool {
  readonly name: string;
}

/** A page of the tools that were seen, or that have a policy. */
export const listTools = operation({
  name: 'listTools',
  access: toolViewer,
  run: (
    { platform }: ToolScope,
    { filter, page }: { readonly filter: ToolFilter; readonly page: Omit<RowPage<unknown, ToolSort>, 'filter'> },
  ): Promise<FoundPage<Tool>> => pageOf(platform.stores.tools, filter, page),
});

const findTool = async ({ platform }: ToolScope, { name }: NamedTool): Promise<Tool | null> =>
  (await platform.stores.tools.all({ ...ALL_TOOLS, name })).at(0) ?? null;

async function toolOf(scope: ToolScope, named: NamedTool): Promise<Tool> {
  const found = await findTool(scope, named);
  if (found === null) throw unknownTool(named.name);
  return found;
}

/** One tool by its name. Throws NotFound. */
export const getTool = operation({
  name: 'getTool',
  access: toolViewer,
  run: (scope: ToolScope, named: NamedTool): Promise<Tool> => toolOf(scope, named),
});

/** The tools with these ids that exist, in no particular order. */
export const getTools = operation({
  name: 'getTools',
  access: toolViewer,
  run: ({ platform }: ToolScope, { ids }: { readonly ids: readonly string[] }): Promise<readonly Tool[]> =>
    platform.stores.tools.findMany(ids),
});

/** A tool, and the teams and keys for which it is blocked, the oldest first. */
export interface ToolDetail {
  readonly tool: Tool;
  readonly overrides: readonly ToolOverride[];
}

/** One tool with its overrides. Throws NotFound. */
export const getToolDetail = operation({
  name: 'getToolDetail',
  access: toolViewer,
  async run(scope: ToolScope, named: NamedTool): Promise<ToolDetail> {
    const tool = await toolOf(scope, named);
    const filter = { ...ALL_OVERRIDES, toolName: named.name };
    return { tool, overrides: await scope.platform.stores.toolOverrides.all(filter) };
  },
});

/** The values that policies of tools may have. */
export const getToolPolicyOptions = operation({
  name: 'getToolPolicyOptions',
  access: toolViewer,
  run: (_scope: ToolScope, _input: undefined) => ({ input: INPUT_POLICIES, output: OUTPUT_POLICIES }),
});

/** Maximum number of attempts of a change that conflicts with concurrent ones. */
const ATTEMPTS = 5;

/** Throws InvalidInput when no further tool can have a policy. Tools that only calls named do not count. */
async function assertRoomForPolicy({ platform: { stores } }: ToolScope): Promise<void> {
  const restricted = await stores.tools.count({ ...ALL_TOOLS, isRestricted: true });
  if (restricted < MAX_NAMED_TOOLS && (await stores.tools.count(ALL_TOOLS)) < MAX_TOOLS + MAX_NAMED_TOOLS) return;
  throw new InvalidInput(`There are already ${MAX_NAMED_TOOLS} tools with a policy, which is the maximum.`);
}

/** Changes the policies of a tool, or adds the tool. */
async function changeTool(scope: ToolScope, name: string, patch: ToolPolicyPatch): Promise<Tool> {
  assertToolName(name);
  const by = authored(scope);
  const { tools } = scope.platform.stores;
  for (let attempt = 1; ; attempt += 1) {
    const found = await findTool(scope, { name });
    const changed =
      found === null
        ? null
        : await tools.change(found.id, (row) => ({ ...row, ...patch, updatedAt: by.now, updatedBy: by.by }));
    if (changed !== null) return changed.after;
    await assertRoomForPolicy(scope);
    const added = namedTool(name, patch, { ...by, id: scope.platform.ids.uuid() });
    try {
      await tools.add(added);
      return added;
    } catch (failure) {
      // A concurrent request or a call has added the tool.
      if (!(failure instanceof Conflict) || attempt >= ATTEMPTS) throw failure;
    }
  }
}

/** Team, or key by its secret or hash, as a request names it. */
export interface NamedScope {
  readonly teamId: string | null;
  readonly key: string | null;
}

interface FoundScope {
  readonly of: OverrideScope;
  readonly alias: string | null;
}

/** Resolves a team or a key. Throws InvalidInput for none or both, and NotFound. */
async function scopeNamed(scope: ToolScope, { teamId, key }: NamedScope): Promise<FoundScope> {
  if (teamId !== null && key !== null) throw new InvalidInput('Provide either team_id or key_hash, not both');
  if (teamId !== null) {
    const team = await scope.platform.stores.teams.find(teamId);
    if (team !== null) return { of: { teamId, keyHash: null }, alias: team.alias };
  } else if (key !== null) {
    const found = await findNamed(scope, key);
    if (found !== null) return { of: { teamId: null, keyHash: found.hash }, alias: found.alias };
  } else throw new InvalidInput('At least one of team_id or key_hash is required to identify the override');
  throw new NotFound('tool override', teamId ?? '', 'Key or team not found for the given identifier');
}

const overridesOf = ({ platform }: ToolScope, name: string, of: OverrideScope): Promise<readonly ToolOverride[]> =>
  platform.stores.toolOverrides.all({ toolName: name, scope: scopeText(of) });

/** Adds the override, or returns the one that exists. */
async function addOverride(scope: ToolScope, name: string, { of, alias }: FoundScope): Promise<ToolOverride> {
  const { toolOverrides } = scope.platform.stores;
  const [existing] = await overridesOf(scope, name, of);
  if (existing !== undefined) return existing;
  if ((await toolOverrides.count(ALL_OVERRIDES)) >= MAX_OVERRIDES)
    throw new InvalidInput(`There are already ${MAX_OVERRIDES} overrides, which is the maximum.`);
  // The tool then appears in the list of tools.
  await changeTool(scope, name, {});
  const override = newOverride(name, of, { ...authored(scope), id: scope.platform.ids.uuid(), alias });
  try {
    await toolOverrides.add(override);
    return override;
  } catch (failure) {
    const [other] = failure instanceof Conflict ? await overridesOf(scope, name, of) : [];
    if (other === undefined) throw failure;
    return other;
  }
}

/** Removes the override. Null when there is none. */
async function removeOverride(scope: ToolScope, name: string, of: OverrideScope): Promise<ToolOverride | null> {
  const [existing] = await overridesOf(scope, name, of);
  if (existing === undefined) return null;
  const [removed] = await scope.platform.stores.toolOverrides.remove([existing.id]);
  return removed ?? null;
}

/** Policies of a tool: for one team or key where the change names one, else for all callers. */
export interface ToolPolicyChange extends NamedTool, NamedScope {
  readonly inputPolicy: ToolInputPolicy | null;
  readonly outputPolicy: ToolOutputPolicy | null;
}

export interface ChangedToolPolicy extends Omit<ToolPolicyChange, 'key'> {
  readonly keyHash: string | null;
}

/**
 * Sets the policies of a tool for all callers. With a team or a key, it blocks the tool for them with the input policy
 * `blocked`, and ends the block with another one. Throws InvalidInput for a change without a policy, for a name that no
 * tool can have, and for a team together with a key. Throws NotFound for an unknown team or key.
 */
export const setToolPolicy = operation({
  name: 'setToolPolicy',
  access: toolAdmin,
  async run(scope: ToolScope, change: ToolPolicyChange): Promise<ChangedToolPolicy> {
    const { name, inputPolicy, outputPolicy, teamId, key } = change;
    assertToolName(name);
    if (inputPolicy === null && outputPolicy === null)
      throw new InvalidInput('At least one of input_policy or output_policy must be provided');
    if (teamId === null && key === null) {
      const patch = {
        ...(inputPolicy === null ? {} : { inputPolicy }),
        ...(outputPolicy === null ? {} : { outputPolicy }),
      };
      const tool = await changeTool(scope, name, patch);
      await scope.platform.toolPolicies.refresh();
      const { inputPolicy: input, outputPolicy: output } = tool;
      return { name, inputPolicy: input, outputPolicy: output, teamId: null, keyHash: null };
    }
    if (inputPolicy === null || outputPolicy !== null)
      throw new InvalidInput('A policy of one team or key is an input_policy only');
    const found = await scopeNamed(scope, { teamId, key });
    if (inputPolicy === 'blocked') await addOverride(scope, name, found);
    else await removeOverride(scope, name, found.of);
    await scope.platform.toolPolicies.refresh();
    return { name, inputPolicy, outputPolicy, ...found.of };
  },
});

/** Ends a block for one team or key. Throws InvalidInput, and NotFound for an unknown team, key or override. */
export const deleteToolOverride = operation({
  name: 'deleteToolOverride',
  access: toolAdmin,
  async run(scope: ToolScope, { name, ...named }: NamedTool & NamedScope): Promise<ToolOverride> {
    const { of } = await scopeNamed(scope, named);
    const removed = await removeOverride(scope, name, of);
    if (removed === null) {
      const shown = name.slice(0, MAX_TOOL_NAME);
      throw new NotFound('tool override', name, `No override found for tool '${shown}' with the given scope`);
    }
    await scope.platform.toolPolicies.refresh();
    return removed;
  },
});

/** First and last UTC day, `YYYY-MM-DD`; null for the default. */
export interface ToolDays {
  readonly from: string | null;
  readonly to: string | null;
}

const DAY_MS = 86_400_000;

/**
 * Cost of the requests that called each tool, in a period of at most 31 days: the last 30 days by default. A request
 * with several tools counts in full for each. The calls of the last seconds may be missing. Throws InvalidInput.
 */
export const getToolSpend = operation({
  name: 'getToolSpend',
  access: toolViewer,
  async run({ platform }: ToolScope, days: ToolDays): Promise<ToolSpend & ToolPeriod> {
    const to = days.to ?? activityPeriodOf(null, null, platform.clock.now()).to;
    const { to: end } = periodOfDays(to, to, 'end_date');
    // `end` is the start of the day after `to`.
    const from = days.from ?? activityPeriodOf(null, null, new Date(end.getTime() - DAY_MS)).from;
    const period = periodOfDays(from, to, 'start_date');
    const length = (period.to.getTime() - period.from.getTime()) / DAY_MS;
    if (length < 1) throw new InvalidInput('The first day is after the last one.', [], { field: 'start_date' });
    if (length > MAX_SPEND_DAYS)
      throw new InvalidInput(`A period has at most ${MAX_SPEND_DAYS} days.`, [], { field: 'start_date' });
    return { ...(await platform.stores.toolUse.spend({ from, to }, MAX_SPEND_TOOLS)), from, to };
  },
});

/** The requests that called a tool, the latest first. They are stored for 90 days. Throws InvalidInput for a day. */
export const listToolCalls = operation({
  name: 'listToolCalls',
  access: toolViewer,
  async run(
    { platform }: ToolScope,
    page: ToolCallPage,
  ): Promise<{ readonly calls: readonly ToolCallEntry[]; readonly totalCount: number }> {
    for (const day of [page.from, page.to]) if (day !== null) periodOfDays(day, day, 'start_date');
    return await platform.stores.toolUse.calls(page);
  },
});

/** Applies changes of policies by other processes. */
export const refreshToolPolicies = operation({
  name: 'refreshToolPolicies',
  access: system,
  run: ({ platform }: ToolScope): Promise<void> => platform.toolPolicies.refresh(),
});
