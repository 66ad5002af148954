import type { Caller } from '../caller.ts';
import type { JsonObject } from '../json-object.ts';
import type { Usd } from '../money.ts';
import type { SpendRow } from '../spend/spend-row.ts';

/** A tool and where it comes from: the name of an MCP server, or `user_defined`. */
export interface SeenTool {
  readonly name: string;
  readonly origin: string;
}

/** A call that offers tools, or in which tools were called. */
export interface ToolsOfCall {
  readonly caller: Caller;
  readonly spend: SpendRow;
  readonly userAgent: string | null;
  /** Tools that the model called, or the tool of an MCP server that the caller called. */
  readonly called: readonly SeenTool[];
  /** The request. Its `tools` are possibly still unparsed bytes. */
  readonly body: JsonObject;
}

/**
 * One tool in a batch: its calls since the last commit, and the key, team and user agent of the first request in the
 * batch.
 */
export interface ToolSighting extends SeenTool {
  /** Id of the row of a new tool. A known tool keeps its id. */
  readonly id: string;
  /** Calls of the tool since the last commit, each counted; 0 for a tool that was only offered. */
  readonly calls: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
  readonly keyHash: string;
  readonly keyAlias: string | null;
  readonly teamId: string | null;
  readonly userAgent: string | null;
}

/** Requests that called one tool on one UTC day, `YYYY-MM-DD`. */
export interface ToolDay {
  readonly day: string;
  readonly name: string;
  /** Number of requests that called the tool. A request counts once, even with several calls of the tool. */
  readonly calls: number;
  /** Sum over the requests that called the tool. A request with several tools counts in full for each. */
  readonly cost: Usd;
  readonly tokens: number;
}

/** A request that called a tool. It does not contain the prompt or the tool arguments. */
export interface ToolCallEntry {
  readonly id: string;
  readonly name: string;
  /** Id of the request, as in the spend logs. */
  readonly requestId: string;
  readonly at: Date;
  readonly model: string;
  /** Null when the price is unknown. */
  readonly cost: Usd | null;
  readonly tokens: number;
}

/** What one commit adds. */
export interface ToolUseBatch {
  /** Id of the process that counted. */
  readonly process: string;
  /** Number of the batch in its process, from 1. */
  readonly number: number;
  readonly tools: readonly ToolSighting[];
  readonly days: readonly ToolDay[];
  readonly calls: readonly ToolCallEntry[];
}

/** Days of a period, both included. */
export interface ToolPeriod {
  readonly from: string;
  readonly to: string;
}

/** Use of one tool over a period. */
export type ToolSum = Omit<ToolDay, 'day'>;

export interface ToolSpend {
  /** The tools with the highest cost, the highest first. */
  readonly tools: readonly ToolSum[];
  /** Days of these tools. Sorted by day ascending, then by cost descending, then by name. */
  readonly days: readonly ToolDay[];
}

/** Query for one page of the requests that called a tool, the latest first. */
export interface ToolCallPage {
  readonly name: string;
  /** First and last day; null for no limit. */
  readonly from: string | null;
  readonly to: string | null;
  readonly limit: number;
  readonly offset: number;
}

/** Store of the use of tools. */
export interface ToolUseStore {
  /**
   * Adds a batch in one commit. A batch that was committed before adds nothing. New tools beyond `MAX_TOOLS`, and
   * beyond `MAX_TOOLS_OF_KEY` of their key, are left out, with their days and calls. Calls and days before `keptFrom`
   * are deleted, and so are tools without a policy that were last seen before it.
   */
  add(batch: ToolUseBatch, now: Date, keptFrom: Date): Promise<void>;
  spend(period: ToolPeriod, limit: number): Promise<ToolSpend>;
  calls(page: ToolCallPage): Promise<{ readonly calls: readonly ToolCallEntry[]; readonly totalCount: number }>;
}

/** Maximum number of tools in a report of spend. */
export const MAX_SPEND_TOOLS = 50;
/** Maximum number of days of a report of spend. */
export const MAX_SPEND_DAYS = 31;
