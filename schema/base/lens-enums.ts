import type { Evidence, FindingKind, FindingStatus, Priority } from '../../src/domain/lens/finding.ts';
import type { LensRun } from '../../src/domain/lens/lens.ts';
import { builder } from './builder.ts';

import { described } from './descriptions.ts';

export const FindingStatusType = builder.enumType('FindingStatus', {
  description: 'Status of a finding, set by people. A resolved finding that occurs again becomes open.',
  values: described<FindingStatus>({
    open: 'Not judged yet, or occurred again.',
    resolved: 'Marked as repaired.',
    dismissed: 'Rejected. A finding stays dismissed when it occurs again.',
  }),
});
export const FindingKindType = builder.enumType('FindingKind', {
  description: 'Whether a finding is a failure or behaviour that is worth knowing.',
  values: described<FindingKind>({ issue: 'A failure.', pattern: 'Notable behaviour that is not a failure.' }),
});
export const FindingPriorityType = builder.enumType('FindingPriority', {
  description: 'Priority of a finding.',
  values: described<Priority>({
    high: 'Harm to users or data.',
    medium: 'Failed tasks.',
    low: 'All other findings.',
  }),
});
export const EvidenceRoleType = builder.enumType('EvidenceRole', {
  description: 'Whether a quote supports a finding or limits it.',
  values: described<Evidence['role']>({ support: 'Supports the finding.', counterexample: 'Limits the finding.' }),
});
export const LensRunStatusType = builder.enumType('LensRunStatus', {
  description: 'Status of a run.',
  values: described<LensRun['status']>({
    queued: 'Waits for a worker.',
    running: 'Claimed by a worker.',
    completed: 'Ended with a result.',
    failed: 'Ended without a result.',
    cancelled: 'Cancelled by a person.',
  }),
});
