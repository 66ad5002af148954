import { builder } from './base/builder.ts';
import { TraceType } from './base/refs.ts';

const SOURCES =
  'Read from the root span, otherwise from the span of an agent, step or model call, or from the request of a gateway call.';

builder.objectFields(TraceType, (t) => ({
  sessionId: t.string({
    nullable: true,
    description: `Session or conversation. Null when none is stated, and for a redacted trace. ${SOURCES}`,
    resolve: ({ summary }) => summary.sessionId,
  }),
  userId: t.string({
    nullable: true,
    description: `User. Null when none is stated, and for a redacted trace. ${SOURCES}`,
    resolve: ({ summary }) => summary.userId,
  }),
  tags: t.stringList({
    description: `Distinct tags of all its spans, sorted; at most 100. Empty for a redacted trace.`,
    resolve: ({ summary }) => summary.tags,
  }),
}));
