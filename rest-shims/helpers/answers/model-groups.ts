import { withConfiguredPrices } from '../../../src/domain/deployments/priced-row.ts';
import type { ModelFacts } from '../../../resolvers/models.ts';

/** Capabilities of a group: true when every deployment has them. */
const CAPABILITIES = [
  'supports_function_calling',
  'supports_parallel_function_calling',
  'supports_vision',
  'supports_reasoning',
  'supports_web_search',
] as const;

/** Limits of stored deployments. A group has their sum. */
const LIMITS = ['tpm', 'rpm'] as const;

const recordOf = <Name extends string, Value>(names: readonly Name[], valueOf: (name: Name) => Value) =>
  Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Readonly<Record<Name, Value>>;

/** A model with the limits, prices and capabilities of its deployments. */
export function groupObject(name: string, models: readonly ModelFacts[]) {
  const rows = models.map(({ entry, deployment }) => withConfiguredPrices(entry?.row, deployment.priceOverrides));
  const maximum = (column: string): number | null => {
    const values = rows.flatMap((row) => (typeof row[column] === 'number' ? [row[column]] : []));
    return values.length === 0 ? null : Math.max(...values);
  };
  const total = (parameter: string): number | null => {
    const values = models.flatMap(({ stored }) => {
      const value = stored?.params[parameter];
      return typeof value === 'number' ? [value] : [];
    });
    return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0);
  };
  return {
    model_group: name,
    providers: [...new Set(models.map(({ deployment }) => deployment.provider))],
    mode: models[0]?.entry?.mode ?? null,
    max_input_tokens: maximum('max_input_tokens'),
    max_output_tokens: maximum('max_output_tokens'),
    input_cost_per_token: maximum('input_cost_per_token'),
    output_cost_per_token: maximum('output_cost_per_token'),
    ...recordOf(LIMITS, total),
    ...recordOf(CAPABILITIES, (capability) => rows.every((row) => row[capability] === true)),
  };
}
