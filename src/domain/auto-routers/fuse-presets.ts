/** Description of a model or harness. The configuration of a Fuse v2 router names it by its id. */
export interface FusePreset {
  readonly id: string;
  readonly label: string;
  /** Text that the judge reads. */
  readonly text: string;
  /** Addresses of the pages on which the text is based. */
  readonly sources: readonly string[];
}

/** Description of a model. */
export interface FuseModelPreset extends FusePreset {
  readonly model: string;
}

export const FUSE_PRESETS_VERSION = '2026-09-17-v1';

const modelPreset = (name: string, label: string, text: string, source: string): FuseModelPreset => ({
  id: `${name}-v1`,
  label,
  model: name,
  text,
  sources: [source],
});
const harnessPreset = (name: string, label: string, text: string, source: string): FusePreset => ({
  id: `${name}-v1`,
  label,
  text: `${text} The name alone says nothing about files, tests, network access, further tools or limits.`,
  sources: [source],
});

const OPENAI = 'https://developers.openai.com/api/docs/models';
const ANTHROPIC = 'https://platform.claude.com/docs/en/models';

export const FUSE_MODELS: readonly FuseModelPreset[] = [
  modelPreset(
    'gpt-6-astra',
    'GPT-6 Astra',
    'Model of OpenAI for long and demanding work: reasoning, code, research, documents.',
    `${OPENAI}/gpt-6-astra`,
  ),
  modelPreset(
    'gpt-5.6-sol',
    'GPT-5.6 Sol',
    'Model of OpenAI for complex professional tasks with reasoning and tools.',
    `${OPENAI}/gpt-5.6-sol`,
  ),
  modelPreset(
    'gpt-5.6-luna',
    'GPT-5.6 Luna',
    'Model of OpenAI for many cheap calls, with reasoning and tools.',
    `${OPENAI}/gpt-5.6-luna`,
  ),
  modelPreset(
    'gpt-5.6-terra',
    'GPT-5.6 Terra',
    'General model of OpenAI for texts, images, reasoning and tools.',
    `${OPENAI}/gpt-5.6-terra`,
  ),
  modelPreset(
    'claude-haiku-4-5',
    'Claude Haiku 4.5',
    'Fast model of Anthropic for texts, images and tools.',
    `${ANTHROPIC}/haiku-4-5/overview`,
  ),
  modelPreset(
    'claude-sonnet-5',
    'Claude Sonnet 5',
    'Model of Anthropic between speed and capability, with adaptive thinking and tools.',
    `${ANTHROPIC}/sonnet-5/overview`,
  ),
  modelPreset(
    'claude-opus-5',
    'Claude Opus 5',
    'Model of Anthropic for complex code and work in companies, with adaptive thinking.',
    `${ANTHROPIC}/opus-5/overview`,
  ),
];

export const FUSE_HARNESSES: readonly FusePreset[] = [
  harnessPreset(
    'unspecified',
    'Unspecified runtime',
    'The runtime of the agent is not known.',
    'https://code.claude.com/docs/en/how-claude-code-works',
  ),
  harnessPreset(
    'claude-code',
    'Claude Code',
    'Loop of an agent with management of the context and configured tools.',
    'https://code.claude.com/docs/en/how-claude-code-works',
  ),
  harnessPreset(
    'codex-cli',
    'Codex CLI',
    'Coding agent in a terminal, inside of its permissions and sandbox.',
    'https://learn.chatgpt.com/docs/codex/cli',
  ),
  harnessPreset(
    'opencode',
    'OpenCode',
    'Configurable runtime for agents, with the tools of the selected agent.',
    'https://opencode.ai/docs/agents/',
  ),
  harnessPreset(
    'mini-swe-agent',
    'mini-SWE-agent',
    'Small agent that runs separate shell commands.',
    'https://mini-swe-agent.com/latest/faq/',
  ),
];
