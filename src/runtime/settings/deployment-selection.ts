import { z } from 'zod';
import type { AccessWindow, DeploymentSelection } from '../../domain/routing/selection-policy.ts';

/** A number, at least 0. Also as text, because references to variables are texts. */
const amount = z.union([z.number().min(0), z.string().regex(/^\d+(\.\d+)?$/, 'must be a number from 0')]).nullish();
const level = z.union([z.int(), z.string().regex(/^-?\d+$/, 'must be a whole number')]).nullish();
const texts = z.array(z.string().min(1)).nullish();
const clock = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 09:30');

const count = z.union([z.int().min(1), z.string().regex(/^[1-9]\d*$/, 'must be a whole number from 1')]).nullish();

/** Keys of `litellm_params` that decide when a deployment is selected. */
export const SELECTION_PARAMS = {
  weight: amount,
  rpm: amount,
  tpm: amount,
  max_parallel_requests: count,
  order: level,
  tags: texts,
  tag_regex: texts,
  silent_model: z.union([z.string().min(1), z.array(z.string().min(1))]).nullish(),
};

/** Keys of `model_info` that decide when a deployment is selected. */
export const SELECTION_INFO = {
  max_input_tokens: amount,
  enable_tag_filtering: z.boolean().nullish(),
  allow_fail_open: z.boolean().nullish(),
  access_windows: z
    .array(
      z.looseObject({
        start: clock,
        end: clock,
        timezone: z.string().refine(isTimezone, 'must be a time zone such as Europe/Vienna').optional(),
        team_ids: z.array(z.string().min(1)),
      }),
    )
    .nullish(),
};

interface SelectionEntry {
  readonly litellm_params: z.infer<z.ZodObject<typeof SELECTION_PARAMS>>;
  readonly model_info?: z.infer<z.ZodObject<typeof SELECTION_INFO>> | undefined;
}

/** The member `selection` of a deployment. No member when no setting of the selection is configured. */
export function deploymentSelection(entry: SelectionEntry): { readonly selection?: DeploymentSelection } {
  const { litellm_params: params, model_info: info } = entry;
  const { silent_model: silent, tag_regex: patterns } = params;
  const selection = withoutNulls({
    weight: numberOf(params.weight),
    rpm: numberOf(params.rpm),
    tpm: numberOf(params.tpm),
    maxParallel: numberOf(params.max_parallel_requests),
    order: numberOf(params.order),
    tags: listOf(params.tags),
    tagPatterns: listOf(patterns?.flatMap(patternOf)),
    silentModels: listOf(typeof silent === 'string' ? [silent] : silent),
    maxInputTokens: numberOf(info?.max_input_tokens),
    tagFiltering: info?.enable_tag_filtering,
    failsOpen: info?.allow_fail_open === true ? true : null,
    accessWindows: listOf(info?.access_windows?.map(windowOf)),
  });
  return Object.keys(selection).length === 0 ? {} : { selection };
}

const numberOf = (value: number | string | null | undefined): number | null =>
  value === null || value === undefined ? null : Number(value);

const listOf = <Item>(items: readonly Item[] | null | undefined): readonly Item[] | null =>
  items === null || items === undefined || items.length === 0 ? null : items;

/** A pattern that does not compile matches nothing, as in the reference. */
function patternOf(pattern: string): readonly RegExp[] {
  try {
    return [new RegExp(pattern, 'u')];
  } catch {
    return [];
  }
}

const MINUTES_OF_HOUR = 60;

function minuteOf(time: string): number {
  const [hour = '0', minute = '0'] = time.split(':');
  return Number(hour) * MINUTES_OF_HOUR + Number(minute);
}

type WindowEntry = NonNullable<NonNullable<SelectionEntry['model_info']>['access_windows']>[number];

/** The time zone is UTC where none is configured. */
const windowOf = ({ start, end, timezone, team_ids: teamIds }: WindowEntry): AccessWindow => ({
  startMinute: minuteOf(start),
  endMinute: minuteOf(end),
  timezone: timezone ?? 'UTC',
  teamIds,
});

/** The members that are neither null nor undefined. */
function withoutNulls<Members extends object>(
  members: Members,
): { readonly [Name in keyof Members]?: NonNullable<Members[Name]> } {
  const set = Object.entries(members).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(set) as { readonly [Name in keyof Members]?: NonNullable<Members[Name]> };
}

function isTimezone(name: string): boolean {
  try {
    // Throws RangeError for an unknown time zone.
    return new Intl.DateTimeFormat('en-GB', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
