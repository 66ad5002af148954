import type { Annotation } from '../../src/domain/annotations/annotation.ts';
import type { Budget } from '../../src/domain/budgets/budget.ts';
import type { Customer } from '../../src/domain/customers/customer.ts';
import type { Organization } from '../../src/domain/organizations/organization.ts';
import type { Project } from '../../src/domain/projects/project.ts';
import type { User } from '../../src/domain/users/user.ts';
import type { CatalogEntry } from '../../src/domain/catalog/catalog.ts';
import type { CatalogKey, Checkout } from '../../src/domain/checkout/checkout.ts';
import { nullIfBlank } from '../../src/domain/optional-text.ts';
import type { Usage } from '../../src/domain/chat/chat.ts';
import type { VirtualKey } from '../../src/domain/keys/virtual-key.ts';
import type { SpendRow } from '../../src/domain/spend/spend-row.ts';
import type { Owner } from '../../src/domain/caller.ts';
import type { OwnedSpan } from '../../resolvers/operation/span-tree.ts';
import type { Trace, TraceAgent, TraceIdentity } from '../../src/domain/traces/trace.ts';
import { builder } from './builder.ts';

// Refs are declared apart from their fields, so that types can refer to each other without import cycles.

export const CatalogEntryType = builder.objectRef<CatalogEntry>('CatalogEntry');
/** A key with its purchase (checkout), because the state of the purchase decides whether the key is valid. */
export const CatalogKeyType = builder.objectRef<{ readonly key: CatalogKey; readonly checkout: Checkout }>(
  'CatalogKey',
);
export const CheckoutType = builder.objectRef<Checkout>('Checkout');

/** A trace of a list has its summary only. Spans and agents are loaded on demand. */
export type PartialTrace = Pick<Trace, 'summary'> & Partial<Trace>;

export const TraceType = builder.objectRef<PartialTrace>('Trace');
/** The stored traces that a trace is merged from; the trace itself when it is not merged. */
export const partsOf = ({ summary, parts }: PartialTrace): readonly TraceIdentity[] => parts ?? [summary];

/** One field of the owner, e.g. the team, when it is the same for all parts of a trace. Null when the parts differ. */
export function commonOwner<Field extends keyof Owner>(trace: PartialTrace, field: Field): Owner[Field] | null {
  const [first, ...others] = new Set(partsOf(trace).map(({ owner }) => owner[field]));
  return first === undefined || others.length > 0 ? null : first;
}

/** An agent and the parts of its trace. */
export type PartialAgent = TraceAgent & { readonly within: readonly TraceIdentity[] };
/** A span and the parts of its trace, as the request read the trace: merged, or of one owner. */
export type PartialSpan = OwnedSpan & { readonly within: readonly TraceIdentity[] };

export const TraceAgentType = builder.objectRef<PartialAgent>('TraceAgent');
/** A span without its content, which is loaded on demand. */
export const SpanType = builder.objectRef<PartialSpan>('Span');
export const SpendRowType = builder.objectRef<SpendRow>('SpendRow');
export const AnnotationType = builder.objectRef<Annotation>('Annotation');
export const TeamType = builder.objectRef<{ readonly id: string }>('Team');
/** The team with this id; null for a null or blank id. */
export const teamOf = (id: string | null): { readonly id: string } | null => {
  const teamId = nullIfBlank(id);
  return teamId === null ? null : { id: teamId };
};
export const UserType = builder.objectRef<User>('User');
export const OrganizationType = builder.objectRef<Organization>('Organization');
export const ProjectType = builder.objectRef<Project>('Project');
export const CustomerType = builder.objectRef<Customer>('Customer');
export const BudgetType = builder.objectRef<Budget>('Budget');
export const UsageType = builder.objectRef<Usage>('Usage');
export const VirtualKeyType = builder.objectRef<VirtualKey>('VirtualKey');
