import { InvalidInput } from '../errors.ts';

/** Versions of the Model Context Protocol that the gateway serves, the oldest first. */
export const MCP_VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const;
export type McpVersion = (typeof MCP_VERSIONS)[number];

/** Version of a request without the header `mcp-protocol-version`, as the specification defines it. */
export const ASSUMED_MCP_VERSION: McpVersion = '2025-03-26';

const NEWEST_MCP_VERSION: McpVersion = '2025-11-25';

/** The last version in which one request may have several messages. */
const LAST_BATCH_VERSION: McpVersion = '2025-03-26';

export const isMcpVersion = (text: string): text is McpVersion => MCP_VERSIONS.some((version) => version === text);

/** Version of a session: the requested one if it is served, else the newest. */
export const negotiatedVersion = (requested: string): McpVersion =>
  isMcpVersion(requested) ? requested : NEWEST_MCP_VERSION;

export const allowsBatches = (version: McpVersion): boolean => version <= LAST_BATCH_VERSION;

/** What a request breaks: JSON, the form of messages, the negotiation of media types, or the type of its body. */
export type McpFault = 'parse' | 'request' | 'accept' | 'media_type';

/** A request that breaks the protocol, or the transport over HTTP. */
export class McpProtocolError extends InvalidInput {
  readonly fault: McpFault;
  constructor(fault: McpFault, message: string) {
    super(message);
    this.name = 'McpProtocolError';
    this.fault = fault;
  }
}
