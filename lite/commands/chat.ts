import { readFileSync } from 'node:fs';
import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import { CommandFailure, textOf, UsageFailure } from '../failure.ts';
import { replaceText } from '../files/private-files.ts';
import { streamedTexts } from '../server/chat-stream.ts';
import { jsonText, plain } from '../terminal/table.ts';
import { isJsonObject } from '../../src/domain/json-object.ts';
import { textOrNull, type Values } from '../values.ts';
import { dataOf } from './models.ts';

/** Deadline of one answer, in ms. */
const ANSWER_MS = 600_000;

interface Message {
  readonly role: string;
  readonly content: string;
}

interface Chat {
  model: string;
  messages: Message[];
  readonly settings: Readonly<Record<string, number>>;
}

const HELP = `Commands:
  /help         Show this list
  /clear        Start a new conversation
  /history      Show the conversation
  /save <name>  Store the conversation in a file
  /load <name>  Read a conversation from a file
  /model        Choose another model
  /quit, /exit  Leave`;

/** Asks for a model of the key, by number or name. Null at the end of the input. */
async function pickModel(context: Context): Promise<string | null> {
  const { terminal } = context.host;
  const ids = dataOf(await context.send('GET', '/models')).flatMap(({ id }) => textOrNull(id) ?? []);
  if (ids.length === 0) throw new CommandFailure('Your key may call no model.');
  for (const [index, id] of ids.entries()) terminal.print(`  ${index + 1}. ${plain(id)}`);
  for (;;) {
    const answer = (await terminal.ask(`Select a model by number (1-${ids.length}) or name: `))?.trim();
    if (answer === undefined) return null;
    const picked = ids.includes(answer) ? answer : ids[Number(answer) - 1];
    if (picked !== undefined) return picked;
    terminal.print('No such model.');
  }
}

/** Sends the conversation. Prints and returns the answer. Ctrl-C ends the answer, not the chat. */
async function answerTo(context: Context, chat: Chat): Promise<string> {
  const { host } = context;
  const client = await context.client();
  const interruption = host.interruption();
  let answer = '';
  try {
    const response = await client.open('POST', '/chat/completions', {
      json: { model: chat.model, messages: chat.messages, stream: true, ...chat.settings },
      headers: { accept: 'text/event-stream' },
      deadlineMs: ANSWER_MS,
      signal: interruption.signal,
    });
    for await (const text of streamedTexts(response)) {
      answer += text;
      host.terminal.write(plainLines(text));
    }
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
  } finally {
    interruption.release();
    if (answer !== '') host.terminal.print('');
  }
  return answer;
}

/** Like `plain`, but keeps line breaks. */
const plainLines = (text: string): string => text.split('\n').map(plain).join('\n');

const isMessage = (value: unknown): value is Message =>
  isJsonObject(value) && typeof value['role'] === 'string' && typeof value['content'] === 'string';

function readMessages(path: string): Message[] {
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
  const messages = isJsonObject(value) ? value['messages'] : value;
  if (!Array.isArray(messages) || !messages.every(isMessage)) throw new Error('the file has no list of messages');
  return messages.map(({ role, content }) => ({ role, content }));
}

const fileOf = (name: string): string => (name.endsWith('.json') ? name : `${name}.json`);

/** Runs one `/` command. Returns whether the chat goes on. */
async function runCommand(context: Context, chat: Chat, line: string): Promise<boolean> {
  const { terminal } = context.host;
  const [, name = '', argument = ''] = /^(\/\S*)\s*(.*)$/.exec(line) ?? [];
  if (['/quit', '/exit', '/q'].includes(name)) return false;
  if (name === '/help') terminal.print(HELP);
  else if (name === '/clear') {
    chat.messages = chat.messages.filter(({ role }) => role === 'system');
    terminal.print('Conversation cleared.');
  } else if (name === '/history') {
    for (const { role, content } of chat.messages) terminal.print(plainLines(`${role}: ${content}`));
  } else if (name === '/model') {
    chat.model = argument || ((await pickModel(context)) ?? chat.model);
    terminal.print(`Model: ${plain(chat.model)}`);
  } else if ((name === '/save' || name === '/load') && argument === '') terminal.print(`Usage: ${name} <name>`);
  else if (name === '/save') {
    replaceText(fileOf(argument), `${jsonText({ model: chat.model, messages: chat.messages })}\n`);
    terminal.print(`Saved to ${fileOf(argument)}`);
  } else if (name === '/load') {
    chat.messages = readMessages(fileOf(argument));
    terminal.print(`Loaded ${chat.messages.length} messages from ${fileOf(argument)}`);
  } else terminal.print(`Unknown command ${name}. Type /help for the list.`);
  return true;
}

/** Handles a command or a message. Returns whether the chat goes on. A failed message is left out of the chat. */
async function turn(context: Context, chat: Chat, line: string): Promise<boolean> {
  const before = chat.messages;
  try {
    if (line.startsWith('/')) return await runCommand(context, chat, line);
    chat.messages = [...before, { role: 'user', content: line }];
    const answer = await answerTo(context, chat);
    chat.messages = answer === '' ? before : [...chat.messages, { role: 'assistant', content: answer }];
  } catch (error) {
    chat.messages = before;
    context.host.terminal.note(`Error: ${plain(textOf(error))}`);
  }
  return true;
}

async function runChat(context: Context, values: Values): Promise<void> {
  const { terminal } = context.host;
  const [temperature, maxTokens] = [values.number('temperature') ?? 0, values.integer('max-tokens')];
  if (temperature < 0 || temperature > 2) throw new UsageFailure("Invalid value for '--temperature': 0 to 2.");
  const model = values.operands[0] ?? (await pickModel(context));
  if (model === null) return;
  const system = values.text('system');
  const chat: Chat = {
    model,
    messages: system === null ? [] : [{ role: 'system', content: system }],
    settings: { temperature, ...(maxTokens === null ? {} : { max_tokens: maxTokens }) },
  };
  if (terminal.isInteractive) terminal.print(`Chat with ${plain(model)}. Type /help for commands, /quit to leave.`);
  for (;;) {
    const line = await terminal.ask(terminal.isInteractive ? 'You: ' : '');
    if (line === null) return;
    if (line.trim() !== '' && !(await turn(context, chat, line.trim()))) return;
  }
}

export const chatCommands: readonly Command[] = [
  {
    names: ['chat'],
    summary: 'Chat with a model, with streamed answers',
    operands: ['model?'],
    failures: 'line',
    options: {
      temperature: { type: 'string', short: 't', default: '0.7', help: 'Sampling temperature, 0 to 2' },
      'max-tokens': { type: 'string', help: 'Maximum number of tokens of an answer' },
      system: { type: 'string', short: 's', help: 'System message' },
    },
    run: runChat,
  },
];
