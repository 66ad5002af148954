import { InvalidInput } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../json-object.ts';
import { RPC_CODES } from '../json-rpc-codes.ts';
import type { A2aVersion } from './card.ts';

export type RpcId = string | number | null;

/** A request that breaks a rule of JSON-RPC or of the A2A protocol. */
export class InvalidRpc extends InvalidInput {
  readonly rpcCode: number;
  constructor(message: string, rpcCode: number) {
    super(message);
    this.name = 'InvalidRpc';
    this.rpcCode = rpcCode;
  }
}

/** A parsed message. Its method and parameters are not checked yet. */
export interface RpcMessage {
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject;
}

/** `send` and `stream` are billed. `card` is answered by the gateway. */
type MethodKind = 'send' | 'stream' | 'task' | 'events' | 'push' | 'card';

interface A2aMethod {
  readonly kind: MethodKind;
  /** Names of the method by version of the protocol. */
  readonly names: Readonly<Record<A2aVersion, string>>;
  /** Member of the parameters that must be a text, by version; absent for none. */
  readonly requires?: Readonly<Record<A2aVersion, string>>;
}

/** Members with the id of a task, by version. */
const ID = { '0.3': 'id', '1.0': 'id' } as const;
const TASK_ID = { '0.3': 'taskId', '1.0': 'taskId' } as const;
const ID_OR_TASK_ID = { '0.3': 'id', '1.0': 'taskId' } as const;

/** `oldName` is the name in version 0.3, `newName` that in version 1.0. */
const method = (kind: MethodKind, oldName: string, newName: string, requires?: A2aMethod['requires']): A2aMethod => ({
  kind,
  names: { '0.3': oldName, '1.0': newName },
  ...(requires === undefined ? {} : { requires }),
});

const PUSH = 'tasks/pushNotificationConfig';
const SET_PUSH = `${PUSH}/set`;

const METHODS: readonly A2aMethod[] = [
  method('send', 'message/send', 'SendMessage'),
  method('stream', 'message/stream', 'SendStreamingMessage'),
  method('task', 'tasks/get', 'GetTask', ID),
  method('task', 'tasks/list', 'ListTasks'),
  method('task', 'tasks/cancel', 'CancelTask', ID),
  method('events', 'tasks/resubscribe', 'SubscribeToTask', ID),
  method('push', SET_PUSH, 'CreateTaskPushNotificationConfig', TASK_ID),
  method('push', `${PUSH}/get`, 'GetTaskPushNotificationConfig', ID_OR_TASK_ID),
  method('push', `${PUSH}/list`, 'ListTaskPushNotificationConfigs', ID_OR_TASK_ID),
  method('push', `${PUSH}/delete`, 'DeleteTaskPushNotificationConfig', ID_OR_TASK_ID),
  method('card', 'agent/getAuthenticatedExtendedCard', 'GetExtendedAgentCard'),
];

/** A method, and the version of the protocol whose name the client used. */
export interface CalledMethod {
  readonly method: A2aMethod;
  readonly version: A2aVersion;
}

const BY_NAME: ReadonlyMap<string, CalledMethod> = new Map(
  METHODS.flatMap((listed) =>
    (['0.3', '1.0'] as const).map((version) => [listed.names[version], { method: listed, version }] as const),
  ),
);

const isId = (value: unknown): value is RpcId =>
  value === null || typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value));

/** Id of a message that may be invalid; null for none. */
export const idOf = (message: unknown): RpcId => {
  const id = isJsonObject(message) ? message['id'] : null;
  return isId(id) ? id : null;
};

const MESSAGE_MEMBERS: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);

/** Reads the envelope of a message. Throws InvalidRpc. */
export function readMessage(message: unknown): RpcMessage {
  const invalid = (why: string): InvalidRpc => new InvalidRpc(`Invalid Request: ${why}`, RPC_CODES.invalidRequest);
  if (!isJsonObject(message)) throw invalid('the body must be one JSON-RPC object');
  const { jsonrpc, method: name, params, id } = message;
  // Some agents ignore the letter case of names. They would read other members than the gateway.
  const misspelled = Object.keys(message).find(
    (member) => !MESSAGE_MEMBERS.has(member) && MESSAGE_MEMBERS.has(member.toLowerCase()),
  );
  if (misspelled !== undefined) throw invalid(`the member ${misspelled} must be ${misspelled.toLowerCase()}`);
  if (jsonrpc !== '2.0') throw invalid("jsonrpc must be '2.0'");
  if (id !== undefined && !isId(id)) throw invalid('id must be a text or a number');
  if (typeof name !== 'string' || name === '') throw invalid('method is required');
  if (params !== undefined && params !== null && !isJsonObject(params)) throw invalid('params must be an object');
  return { id: idOf(message), method: name, params: isJsonObject(params) ? params : {} };
}

/** The method of a message. Throws InvalidRpc for an unknown one. */
export function methodOf({ method: name }: RpcMessage): CalledMethod {
  const found = BY_NAME.get(name);
  if (found === undefined) throw new InvalidRpc(`Method '${name}' not found`, RPC_CODES.unknownMethod);
  return found;
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

/** The address in the parameters that sets a push notification; undefined for none. */
function pushUrlOf(params: JsonObject): unknown {
  const nested = params['pushNotificationConfig'] ?? params['config'] ?? params;
  return isJsonObject(nested) ? nested['url'] : undefined;
}

/** Addresses at which a message requests push notifications. */
function pushUrlsIn({ method: { kind, names } }: CalledMethod, params: JsonObject): readonly unknown[] {
  if (kind === 'push') return names['0.3'] === SET_PUSH ? [pushUrlOf(params)] : [];
  const configuration = params['configuration'];
  if (!isJsonObject(configuration)) return [];
  const config = configuration['pushNotificationConfig'] ?? configuration['taskPushNotificationConfig'];
  return config === undefined || config === null ? [] : [pushUrlOf({ config })];
}

/** Checks the parameters of a method. Throws InvalidRpc. */
export function assertParams(called: CalledMethod, params: JsonObject): void {
  const invalid = (why: string): InvalidRpc => new InvalidRpc(`Invalid params: ${why}`, RPC_CODES.invalidParams);
  const { kind, requires } = called.method;
  if (kind === 'send' || kind === 'stream') {
    const { message } = params;
    if (!isJsonObject(message)) throw invalid('message is required');
    if (!isText(message['messageId'])) throw invalid('message.messageId is required');
    if (!Array.isArray(message['parts'])) throw invalid('message.parts must be a list');
  }
  const required = requires?.[called.version];
  if (required !== undefined && !isText(params[required])) throw invalid(`${required} is required`);
  for (const url of pushUrlsIn(called, params)) {
    const isHttps = typeof url === 'string' && URL.parse(url)?.protocol === 'https:';
    if (!isHttps) throw invalid('the url of a push notification must begin with https://');
  }
}
