import { z } from 'zod';
import type { GuardrailDefinition, GuardrailDirectory } from '../../domain/guardrails/definition.ts';
import type {
  ActiveGuardrail,
  ActiveGuardrails,
  Guardrail,
  StreamSettings,
  TextRole,
} from '../../domain/guardrails/guardrail.ts';
import { brokenGuardrail } from '../../domain/guardrails/kinds/broken.ts';
import { createContentFilter, createSecretFilter } from './content-filter.ts';
import { GuardrailFault, readParams } from './params.ts';

/** Creates a guardrail of one kind. Throws GuardrailFault for settings that it cannot run with. */
export type GuardrailKind = (params: GuardrailDefinition['params'], definition: GuardrailDefinition) => Guardrail;

const LOCAL_KINDS: Readonly<Record<string, GuardrailKind>> = {
  litellm_content_filter: createContentFilter,
  'hide-secrets': createSecretFilter,
};

interface Options {
  readonly directory: GuardrailDirectory;
  /** Kinds that call services. */
  readonly services?: Readonly<Record<string, GuardrailKind>>;
  /** Receives each guardrail that cannot run, once for each of its versions. */
  readonly broken?: (about: { readonly guardrail: string; readonly fault: string }) => void;
}

const common = z.looseObject({
  streaming_sampling_rate: z.coerce.number().int().min(1).max(10_000).nullish(),
  streaming_end_of_stream_only: z.boolean().nullish(),
  streaming_buffer_until_moderated: z.boolean().nullish(),
  inspect_embeddings: z.boolean().nullish(),
  skip_system_message_in_guardrail: z.boolean().nullish(),
  skip_tool_message_in_guardrail: z.boolean().nullish(),
});

/** Default of `streaming_sampling_rate`. */
const SAMPLING_RATE = 5;
const DEFAULT_STREAM: StreamSettings = { samplingRate: SAMPLING_RATE, atEndOnly: false };

/**
 * The guardrails of a directory, each compiled again when it changes. A guardrail that cannot run refuses the calls
 * that it applies to.
 */
export function createActiveGuardrails({ directory, services = {}, broken }: Options): ActiveGuardrails {
  const kinds: Readonly<Record<string, GuardrailKind>> = { ...services, ...LOCAL_KINDS };
  let compiledFrom: readonly GuardrailDefinition[] | null = null;
  let active: readonly ActiveGuardrail[] = [];
  let compiled: ReadonlyMap<GuardrailDefinition, ActiveGuardrail> = new Map();

  /** Throws GuardrailFault for a guardrail that cannot run. */
  function build(definition: GuardrailDefinition): ActiveGuardrail {
    const { kind, params } = definition;
    const make = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
    if (make === undefined) throw new GuardrailFault(`guardrails of the kind '${kind}' do not run here`);
    const shared = readParams(common, params);
    const skips: TextRole[] = [];
    if (shared.skip_system_message_in_guardrail === true) skips.push('system');
    if (shared.skip_tool_message_in_guardrail === true) skips.push('tool');
    return {
      definition,
      guardrail: make(params, definition),
      stream: {
        samplingRate: shared.streaming_sampling_rate ?? SAMPLING_RATE,
        atEndOnly: shared.streaming_end_of_stream_only === true || shared.streaming_buffer_until_moderated === true,
      },
      inspectsEmbeddings: shared.inspect_embeddings === true,
      skips,
    };
  }

  function compile(definition: GuardrailDefinition): ActiveGuardrail {
    try {
      return build(definition);
    } catch (error) {
      if (!(error instanceof GuardrailFault)) throw error;
      broken?.({ guardrail: definition.name, fault: error.message });
      const guardrail = brokenGuardrail(definition, error.message);
      return { definition, guardrail, stream: DEFAULT_STREAM, inspectsEmbeddings: true, skips: [] };
    }
  }

  return {
    faultOf(definition) {
      try {
        build(definition);
        return null;
      } catch (error) {
        if (error instanceof GuardrailFault) return error.message;
        throw error;
      }
    },
    current() {
      const definitions = directory.definitions();
      if (definitions === compiledFrom) return active;
      const next = new Map(definitions.map((one) => [one, compiled.get(one) ?? compile(one)]));
      compiledFrom = definitions;
      compiled = next;
      active = [...next.values()];
      return active;
    },
  };
}
