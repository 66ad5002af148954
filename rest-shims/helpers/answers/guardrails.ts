import { GUARDRAIL_MODES } from '../../../src/domain/guardrails/definition.ts';
import { PREBUILT_NAMES } from '../../../src/domain/guardrails/kinds/prebuilt-patterns.ts';
import {
  type DescribedKind,
  type DescribedParam,
  ENTITY_CATEGORIES,
} from '../../../src/domain/guardrails/kind-descriptions.ts';

const ACTIONS = ['BLOCK', 'MASK'];

/** Options of the form for guardrails: only supported kinds, modes and entities. */
export const renderSettings = (kinds: readonly DescribedKind[]) => ({
  supported_entities: Object.values(ENTITY_CATEGORIES).flat(),
  supported_actions: ACTIONS,
  supported_modes: GUARDRAIL_MODES,
  supported_modes_by_provider: Object.fromEntries(kinds.map(({ kind, modes }) => [kind, modes])),
  providers_without_directional_logging_only_scope: [],
  pii_entity_categories: Object.entries(ENTITY_CATEGORIES).map(([category, entities]) => ({ category, entities })),
  content_filter_settings: {
    prebuilt_patterns: PREBUILT_NAMES.map((name) => ({
      name,
      display_name: name,
      category: 'Patterns',
      description: '',
    })),
    pattern_categories: ['Patterns'],
    supported_actions: ACTIONS,
    content_categories: [],
  },
  decision_model_providers: [],
});

const renderParam = ({ type, description, required, options, defaultValue }: DescribedParam) => ({
  type,
  description,
  required,
  ...(options === undefined ? {} : { options }),
  ...(defaultValue === undefined ? {} : { default_value: defaultValue }),
});

/** Parameters of each kind of guardrail, by kind. */
export const renderKinds = (kinds: readonly DescribedKind[]) =>
  Object.fromEntries(
    kinds.map(({ kind, title, params }) => [
      kind,
      {
        ...Object.fromEntries(params.map((param) => [param.name, renderParam(param)])),
        ui_friendly_name: title,
      },
    ]),
  );
