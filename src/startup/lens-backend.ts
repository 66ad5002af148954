import type { LensBackend } from '../domain/lens/worker.ts';
import { askAnalysisModel } from '../../resolvers/lens-model.ts';
import {
  chooseLensSample,
  claimLensRun,
  completeLensRun,
  extendLensRun,
  listReusableReviews,
  readSampledContent,
  releaseLensRun,
  reportLensProgress,
} from '../../resolvers/lens-work.ts';
import type { LensPlatform } from '../../resolvers/operation/platform.ts';
import type { Scope } from '../../resolvers/operation/scope.ts';

/** Backend of a worker in this process: operations with the caller of `scopeOf`, instead of HTTP requests. */
export function lensBackend(scopeOf: (signal: AbortSignal) => Scope<LensPlatform>): LensBackend {
  return {
    claim: (signal) => claimLensRun(scopeOf(signal), undefined),
    sample: (claim, signal) => chooseLensSample(scopeOf(signal), claim),
    reviews: (claim, signal) => listReusableReviews(scopeOf(signal), claim),
    content: (claim, executionId, cursor, signal) =>
      readSampledContent(scopeOf(signal), { ...claim, executionId, cursor, offset: 0 }),
    model: (claim, call, signal) => askAnalysisModel(scopeOf(signal), { claim, call }),
    progress: (claim, progress, signal) => reportLensProgress(scopeOf(signal), { claim, progress }),
    heartbeat: (claim, signal) => extendLensRun(scopeOf(signal), claim),
    async result(claim, result, signal) {
      await completeLensRun(scopeOf(signal), { claim, result });
    },
    // With a signal of its own: a run is released also after the signal of its work was aborted.
    release: (claim, failure) => releaseLensRun(scopeOf(new AbortController().signal), { claim, failure }),
  };
}
