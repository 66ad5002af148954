import type { CatalogEntry } from './catalog.ts';

/** Capability keys of the price map, with GraphQL descriptions. Add new keys of the map here. */
export const CAPABILITIES = {
  supports_adaptive_thinking: 'Adaptive thinking: the model chooses the amount of reasoning.',
  supports_anthropic_compaction: "Supports Anthropic's compaction of long conversations.",
  supports_anthropic_thinking_payload: "Accepts Anthropic's `thinking` parameter.",
  supports_assistant_prefill: 'Continues a partial assistant message at the end of the input.',
  supports_audio_input: 'Accepts audio input.',
  supports_audio_output: 'Generates audio.',
  supports_bedrock_converse_tool_result_images: "Accepts images in tool results of Bedrock's Converse API.",
  supports_bedrock_native_structured_output: "Structured output through Bedrock's native schema support.",
  supports_bedrock_runtime_chat_completions_inline_reasoning: "Returns reasoning inline in Bedrock's chat completions.",
  supports_bedrock_runtime_chat_completions_response_format: "Accepts `response_format` in Bedrock's chat completions.",
  supports_bedrock_runtime_chat_completions_tools_with_reasoning:
    "Calls tools with reasoning in Bedrock's chat completions.",
  supports_box_questions: 'Answers questions about bounding boxes in an image.',
  supports_computer_use: 'Supports computer use tools.',
  supports_embedding_image_input: 'Creates embeddings of images.',
  supports_fast_mode: 'Has a fast mode.',
  supports_forced_tool_use: 'Supports a forced tool call.',
  supports_function_calling: 'Supports tool calls.',
  supports_image_input: 'Accepts image input.',
  supports_image_size: 'Accepts the size of a generated image.',
  supports_legacy_thinking: 'Accepts the legacy format of thinking settings.',
  supports_low_reasoning_effort: 'Accepts reasoning effort `low`.',
  supports_max_reasoning_effort: 'Accepts reasoning effort `max`.',
  supports_mid_conversation_system: 'Accepts system messages in the middle of a conversation.',
  supports_minimal_reasoning_effort: 'Accepts reasoning effort `minimal`.',
  supports_multimodal: 'Accepts input other than text.',
  supports_native_streaming: 'Streams natively, without emulation.',
  supports_native_structured_output: 'Structured output through native schema support.',
  supports_none_reasoning_effort: 'Accepts reasoning effort `none`.',
  supports_nova_canvas_image_edit: 'Edits images in the Nova Canvas format.',
  supports_output_config: 'Accepts the `output_config` parameter.',
  supports_parallel_function_calling: 'Supports several tool calls in one response.',
  supports_parallel_tool_use_config: 'Accepts a setting that enables or disables parallel tool calls.',
  supports_pdf_input: 'Accepts PDF input.',
  supports_prompt_cache_breakpoint: 'Accepts cache breakpoints in the prompt.',
  supports_prompt_caching: 'Supports prompt caching.',
  supports_reasoning: 'Supports reasoning.',
  supports_regex_lookaround: 'Accepts lookaround in regular expressions of a schema.',
  supports_response_schema: 'Structured output by a JSON schema.',
  supports_sampling_params: 'Accepts sampling parameters such as `temperature`.',
  supports_speed: 'Accepts the `speed` parameter.',
  supports_system_messages: 'Accepts system messages.',
  supports_thinking_cache_preservation: 'Preserves the prompt cache when earlier thinking is omitted.',
  supports_tool_choice: 'Accepts the `tool_choice` parameter.',
  supports_tool_search: 'Supports tool search.',
  supports_url_context: 'Reads the content of URLs in the prompt.',
  supports_video_input: 'Accepts video input.',
  supports_vision: 'Supports vision: interprets images in the input.',
  supports_web_search: 'Supports web search.',
  supports_xhigh_reasoning_effort: 'Accepts reasoning effort `xhigh`.',
} as const;

/** A capability, named by its key in the price map. */
export type Capability = keyof typeof CAPABILITIES;

export const CAPABILITY_NAMES = Object.keys(CAPABILITIES) as readonly Capability[];

/** Whether the price map sets the capability for an entry; absent is false. */
export function hasCapability({ row }: Pick<CatalogEntry, 'row'>, capability: Capability): boolean {
  return row[capability] === true;
}
