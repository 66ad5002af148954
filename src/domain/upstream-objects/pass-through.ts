import type { ModelRequest } from '../chat/chat.ts';
import type { BilledQuantity } from '../inference/billed-quantity.ts';
import type { Form } from '../inference/form.ts';
import type { BatchCalls, BatchLine } from './batch-calls.ts';
import type { ObjectAction } from './object-action.ts';

/** Body of a call about an upstream object. `set` replaces members; null removes one. */
export type PassBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly bytes: Uint8Array; readonly set: Readonly<Record<string, string | null>> }
  | {
      readonly kind: 'form';
      readonly form: Form;
      /** Names of fields for the gateway only, which are not forwarded. */
      readonly without: readonly string[];
      /** Texts of fields that are replaced, or added where the form lacks them. */
      readonly set?: Readonly<Record<string, string>>;
      /**
       * Returns the upstream's own name of a model, which replaces the model name in the lines of the file. Throws for
       * a model that the caller may not call. Absent for a file that is not a list of calls.
       */
      readonly rename?: (model: string) => string;
      /** Called for each line. Needs `rename`. */
      readonly count?: (line: BatchLine) => void;
      /** Members of the body of a line that are replaced, as JSON texts; null for an unchanged line. Needs `rename`. */
      readonly edit?: LineEdit;
      /** Called for each line with the names of the guardrails that have checked the line. */
      readonly checked?: (line: BatchLine, guardrails: readonly string[]) => void;
      /** Called after all lines are read, and before anything is sent. A rejection is thrown by the call. */
      readonly linesRead?: () => Promise<void>;
    };

/** Returns the changed members of a line, as JSON texts. Throws for a line that must not be sent. */
export type LineEdit = (line: BatchLine) => Promise<Readonly<Record<string, string>> | null>;

/** A call about an upstream object: forwarded without translation, admitted and recorded. */
export interface PassThrough {
  readonly action: ObjectAction;
  /** The public model name that its deployment was selected by. */
  readonly model: string;
  /** Path under the upstream's base address, with the upstream's own ids. */
  readonly path: `/${string}`;
  readonly body: PassBody;
  /** Headers of the caller that select the version of the API, by lower-case name. Only some providers read them. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly callId: ModelRequest['callId'];
  readonly parent: ModelRequest['parent'];
  readonly labels?: NonNullable<ModelRequest['labels']>;
  readonly owner?: ModelRequest['owner'];
  /** Calls of the batch that is started. */
  readonly calls?: BatchCalls;
  /** Text of the body that guardrails check; absent for a call without one. */
  readonly prompt?: string;
  /** Billed quantity that is expected of an action billed by its answer; absent where it is not known. */
  readonly expected?: BilledQuantity;
  /** Billed quantity of the answer, once it is read. Undefined for an answer without one. */
  readonly measured?: () => BilledQuantity | undefined;
}
