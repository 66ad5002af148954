import type { SpendRow } from '../../domain/spend/spend-row.ts';
import { USER_DEFINED } from '../../domain/tools/tool.ts';
import type { SeenTool } from '../../domain/tools/tool-use.ts';
import type { CallRecorder } from '../gateway.ts';
import type { ClosedCall } from './record.ts';

const NO_TOOLS: readonly SeenTool[] = [];

/** Tools that were called in a call. */
function calledIn({ request: { calledTool }, outcome }: ClosedCall): readonly SeenTool[] {
  if (calledTool !== undefined) return [calledTool];
  const names = outcome?.calledTools;
  return names === undefined ? NO_TOOLS : names.map((name) => ({ name, origin: USER_DEFINED }));
}

/** Passes the tools of a call to the recorder. Does nothing for a call without tools, and parses no request. */
export function recordTools({ recordTools: receive }: CallRecorder, call: ClosedCall, spend: SpendRow): void {
  if (receive === undefined) return;
  const { caller, request } = call;
  const { body, userAgent = null } = request;
  const called = calledIn(call);
  if (called.length > 0 || 'tools' in body || 'functions' in body) receive({ caller, spend, userAgent, called, body });
}
