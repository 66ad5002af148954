import type { CatalogEntry } from './catalog.ts';

/** Every capability the price map has a key for, with what it means. A new key of the map is added here. */
export const CAPABILITIES = {
  supports_adaptive_thinking: 'Decides itself how long to think.',
  supports_anthropic_compaction: "Takes Anthropic's compaction of long conversations.",
  supports_anthropic_thinking_payload: "Takes Anthropic's form of thinking settings.",
  supports_assistant_prefill: 'Continues an answer that the caller began.',
  supports_audio_input: 'Hears.',
  supports_audio_output: 'Speaks.',
  supports_bedrock_converse_tool_result_images: "Takes images in tool results of Bedrock's Converse.",
  supports_bedrock_native_structured_output: "Holds answers to a schema by Bedrock's own means.",
  supports_bedrock_runtime_chat_completions_inline_reasoning: "Reasons inline on Bedrock's chat completions.",
  supports_bedrock_runtime_chat_completions_response_format: "Takes a response format on Bedrock's chat completions.",
  supports_bedrock_runtime_chat_completions_tools_with_reasoning:
    "Calls tools while reasoning on Bedrock's chat completions.",
  supports_box_questions: 'Answers questions about boxes in an image.',
  supports_computer_use: 'Operates a computer.',
  supports_embedding_image_input: 'Embeds images.',
  supports_fast_mode: 'Has a fast mode.',
  supports_forced_tool_use: 'Can be made to call a tool.',
  supports_function_calling: 'Calls tools.',
  supports_image_input: 'Takes images.',
  supports_image_size: 'Takes the size of the image to make.',
  supports_legacy_thinking: 'Takes the older form of thinking settings.',
  supports_low_reasoning_effort: 'Takes reasoning effort `low`.',
  supports_max_reasoning_effort: 'Takes reasoning effort `max`.',
  supports_mid_conversation_system: 'Takes system messages within a conversation.',
  supports_minimal_reasoning_effort: 'Takes reasoning effort `minimal`.',
  supports_multimodal: 'Takes more than text.',
  supports_native_streaming: 'Streams by itself.',
  supports_native_structured_output: 'Holds answers to a schema by its own means.',
  supports_none_reasoning_effort: 'Takes reasoning effort `none`.',
  supports_nova_canvas_image_edit: 'Edits images as Nova Canvas does.',
  supports_output_config: 'Takes an output configuration.',
  supports_parallel_function_calling: 'Calls several tools at once.',
  supports_parallel_tool_use_config: 'Can be told whether to call tools in parallel.',
  supports_pdf_input: 'Reads PDF.',
  supports_prompt_cache_breakpoint: 'Takes marks of where a cached prompt ends.',
  supports_prompt_caching: 'Caches prompts.',
  supports_reasoning: 'Reasons before it answers.',
  supports_regex_lookaround: 'Takes look-around in patterns of a schema.',
  supports_response_schema: 'Holds answers to a JSON schema.',
  supports_sampling_params: 'Takes temperature and its like.',
  supports_speed: 'Takes a speed setting.',
  supports_system_messages: 'Takes system messages.',
  supports_thinking_cache_preservation: 'Keeps the cache when thinking is left out.',
  supports_tool_choice: 'Takes a choice of tool.',
  supports_tool_search: 'Searches among many tools.',
  supports_url_context: 'Reads the pages behind addresses.',
  supports_video_input: 'Watches video.',
  supports_vision: 'Sees images.',
  supports_web_search: 'Searches the web.',
  supports_xhigh_reasoning_effort: 'Takes reasoning effort `xhigh`.',
} as const;

/** A capability, named by its key in the price map. */
export type Capability = keyof typeof CAPABILITIES;

export const CAPABILITY_NAMES = Object.keys(CAPABILITIES) as readonly Capability[];

/** Whether the price map says that an entry has it; silence is no. */
export function has({ row }: Pick<CatalogEntry, 'row'>, capability: Capability): boolean {
  return row[capability] === true;
}
