/**
 * The logical model of an entry of the price map, by its id alone. Host, region, image size, quality and contract do
 * not matter; a dated snapshot, another size of weights or another quantisation is another model. In doubt two ids stay
 * separate: a wrong join misleads, a missing join only shows a model twice.
 */

/** Last segments of an id that name a task of the model before it. */
const TASKS: ReadonlySet<string> = new Set([
  'edit',
  'image-to-video',
  'reference-to-video',
  'text-to-image',
  'text-to-video',
]);

/** Words that do not name a model. A segment of only such words is joined with the segment before it. */
const COMMON_WORDS: ReadonlySet<string> = new Set(
  (
    'advanced api ask auto base best bodybuilder chat classify community compress conservative container creative ' +
    'decisions deep detect dev diarize embeddings english enhanced entities erase extract fast finance flare form free ' +
    'general generative guardrails inpaint instant keyterm long max meeting models multilingual nano neural outpaint ' +
    'phonecall preview pro query redact research router schnell search sketch standard structure style summarize ' +
    'sunburst transfer turbo typed ultra video voicemail'
  ).split(' '),
);

const VERSION = /^v?\d+(\.\d+)*$/;

const isCommon = (segment: string): boolean =>
  segment.split(/[-_]/).every((word) => COMMON_WORDS.has(word) || VERSION.test(word));

/** The part of an id that names the model: its last segment. A segment of common words needs those before it, too. */
function namingPart(id: string): string {
  const segments = id.split('/').filter((segment) => segment !== '');
  while (segments.length > 1 && TASKS.has(segments.at(-1) ?? '')) segments.pop();
  let start = segments.length - 1;
  while (start > 0 && isCommon(segments[start] ?? '')) start -= 1;
  return segments.slice(Math.max(start, 0)).join('-');
}

interface Rule {
  /** Substring that every match contains, so that most names skip most rules. */
  readonly needs: string;
  readonly pattern: RegExp;
  readonly to: string;
}

const REGION = '(?:us-gov|us|eu|apac|au|jp|in|ca|sa|global)';
const MAKER =
  '(?:ai21|amazon|anthropic|cohere|google|luma|meta|minimax|mistral|moonshot|moonshotai|nvidia|openai|qwen|stability|system\\.ai|twelvelabs|writer|xai|zai)';

/** Applied in order to the naming part, in lower case. */
const RULES: readonly Rule[] = [
  // Bedrock: `us.deepseek.r1-v1:0`. The vendor is part of the name; without it only `v3.2` would remain.
  { needs: 'deepseek.', pattern: new RegExp(`^(?:${REGION}\\.)?deepseek\\.`), to: 'deepseek-' },
  // Bedrock, OCI: `eu.anthropic.claude-...`, `xai.grok-4`.
  { needs: '.', pattern: new RegExp(`^(?:${REGION}\\.)?${MAKER}\\.`), to: '' },
  // A host or maker written in front: `databricks-gpt-5`, `fw-glm-5`, `openai-gpt-4o`, `meta-llama-3-8b`.
  { needs: 'databricks-', pattern: /^databricks-(?!bge|gte)/, to: '' },
  { needs: 'fw-', pattern: /^fw-/, to: '' },
  { needs: 'anthropic-', pattern: /^anthropic-(?=claude-)/, to: '' },
  { needs: 'openai-', pattern: /^openai-(?=gpt-|o\d)/, to: '' },
  { needs: 'alibaba-', pattern: /^alibaba-(?=qwen)/, to: '' },
  { needs: 'nvidia-', pattern: /^nvidia-(?=nemotron-)/, to: '' },
  { needs: 'zai-', pattern: /^zai-(?=glm-)/, to: '' },
  { needs: 'cohere-', pattern: /^cohere-(?=command|embed|rerank|parse)/, to: '' },
  { needs: 'meta-', pattern: /^meta-(?=llama-)/, to: '' },
  // OpenRouter: routing variants, `:free`, `:exacto`.
  { needs: ':', pattern: /:(?:beta|exacto|extended|floor|free|nitro|online)$/, to: '' },
  // Ollama: `gpt-oss:120b-cloud`.
  { needs: ':', pattern: /:(\d+b)(?:-cloud)?$/, to: '-$1' },
  // Bedrock's own revision. It is ignored after a date, and for `v1:0`. Any other revision is a version, such as
  // `v2:1`.
  { needs: ':', pattern: /(-\d{8})-v\d+:\d+$/, to: '$1' },
  { needs: ':', pattern: /-v?1:0$/, to: '' },
  { needs: ':', pattern: /-v(\d+)-(\d+):0$/, to: '-v$1.$2' },
  { needs: ':', pattern: /-v(\d+):(\d+)$/, to: '-v$1.$2' },
  { needs: '-v1', pattern: /^(claude-(?:fable|haiku|opus|sonnet)-[\d-]+)-v1$/, to: '$1' },
  // Vertex: `@20250929` is a dated snapshot, `@default` is none, `-maas` is a service type.
  { needs: '@', pattern: /@default$/, to: '' },
  { needs: '@', pattern: /@/, to: '-' },
  { needs: '-maas', pattern: /-maas$/, to: '' },
  // One way to write a version: `4-5`, `4p5`, `3_1` are 4.5 and 3.1; sizes and dates are unchanged.
  { needs: '', pattern: /(?<![\d.])(\d)[-_p](0|[1-9]\d?)(?![\da-z.])/g, to: '$1.$2' },
  // One way to write a family: `llama3.1`, `llama-v3.1`; `qwen-3`; `claude-4.5-haiku`; Azure's `gpt-35`.
  { needs: 'llama', pattern: /^llama-?v?(?=\d)/, to: 'llama-' },
  { needs: 'qwen-', pattern: /^qwen-v?(?=\d)/, to: 'qwen' },
  { needs: 'claude-', pattern: /^claude-([4-9](?:\.\d+)?)-(fable|haiku|opus|sonnet)/, to: 'claude-$2-$1' },
  { needs: 'gpt-35-', pattern: /^gpt-35-/, to: 'gpt-3.5-' },
];

/** Name of the model of a catalog entry, from the id of the entry in any letter case. */
export function modelNameOf(id: string): string {
  let name = namingPart(id.toLowerCase());
  for (const { needs, pattern, to } of RULES) if (name.includes(needs)) name = name.replace(pattern, to);
  return name === '' ? id.toLowerCase() : name;
}
