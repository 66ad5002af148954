/** Description of a model or harness that a Fuse v2 router can name by its id. */
export interface FusePreset {
  readonly id: string;
  readonly label: string;
  readonly text: string;
  readonly sources: readonly string[];
}

/** Profile of a model. */
export interface FuseModelPreset extends FusePreset {
  readonly model: string;
}

export const FUSE_PRESETS_VERSION = '2026-09-17-v1';

const model = (name: string, label: string, text: string, source: string): FuseModelPreset => ({
  id: `${name}-v1`,
  label,
  model: name,
  text,
  sources: [source],
});
const harness = (name: string, label: string, text: string, source: string): FusePreset => ({
  id: `${name}-v1`,
  label,
  text: `${text} The name alone says nothing about files, tests, network access, further tools or limits.`,
  sources: [source],
});

const OPENAI = 'https://developers.openai.com/api/docs/models';
const ANTHROPIC = 'https://platform.claude.com/docs/en/models';

export const FUSE_MODELS: readonly FuseModelPreset[] = [
  model(
    'gpt-6-astra',
    'GPT-6 Astra',
    'Model of OpenAI for long and demanding work: reasoning, code, research, documents.',
    `${OPENAI}/gpt-6-astra`,
  ),
  model(
    'gpt-5.6-sol',
    'GPT-5.6 Sol',
    'Model of OpenAI for complex professional tasks with reasoning and tools.',
    `${OPENAI}/gpt-5.6-sol`,
  ),
  model(
    'gpt-5.6-luna',
    'GPT-5.6 Luna',
    'Model of OpenAI for many cheap calls, with reasoning and tools.',
    `${OPENAI}/gpt-5.6-luna`,
  ),
  model(
    'gpt-5.6-terra',
    'GPT-5.6 Terra',
    'General model of OpenAI for texts, images, reasoning and tools.',
    `${OPENAI}/gpt-5.6-terra`,
  ),
  model(
    'claude-haiku-4-5',
    'Claude Haiku 4.5',
    'Fast model of Anthropic for texts, images and tools.',
    `${ANTHROPIC}/haiku-4-5/overview`,
  ),
  model(
    'claude-sonnet-5',
    'Claude Sonnet 5',
    'Model of Anthropic between speed and capability, with adaptive thinking and tools.',
    `${ANTHROPIC}/sonnet-5/overview`,
  ),
  model(
    'claude-opus-5',
    'Claude Opus 5',
    'Model of Anthropic for complex code and work in companies, with adaptive thinking.',
    `${ANTHROPIC}/opus-5/overview`,
  ),
];

export const FUSE_HARNESSES: readonly FusePreset[] = [
  harness(
    'unspecified',
    'Unspecified runtime',
    'The runtime of the agent is not known.',
    'https://code.claude.com/docs/en/how-claude-code-works',
  ),
  harness(
    'claude-code',
    'Claude Code',
    'Loop of an agent with management of the context and configured tools.',
    'https://code.claude.com/docs/en/how-claude-code-works',
  ),
  harness(
    'codex-cli',
    'Codex CLI',
    'Coding agent in a terminal, inside of its permissions and sandbox.',
    'https://learn.chatgpt.com/docs/codex/cli',
  ),
  harness(
    'opencode',
    'OpenCode',
    'Configurable runtime for agents, with the tools of the selected agent.',
    'https://opencode.ai/docs/agents/',
  ),
  harness(
    'mini-swe-agent',
    'mini-SWE-agent',
    'Small agent that runs separate shell commands.',
    'https://mini-swe-agent.com/latest/faq/',
  ),
];
