import type { AutoRouter, TierJudge } from '../../domain/auto-routers/auto-router.ts';
import { rankOf, type Tier, TIERS } from '../../domain/auto-routers/tiers.ts';
import { capabilityQuestion } from '../../domain/auto-routers/capability.ts';
import type { Conversation } from '../../domain/auto-routers/conversation.ts';
import { fuseQuestion } from '../../domain/auto-routers/fuse.ts';
import {
  forecastSuccess,
  type HeuristicResult,
  type HeuristicScoring,
  isNearBorder,
  scoreByHeuristic,
} from '../../domain/auto-routers/heuristic.ts';
import type { JudgedTier } from '../../domain/auto-routers/judge-question.ts';
import { keywordFinder, type KeywordFinder } from '../../domain/auto-routers/keywords.ts';
import type { RoutingCause } from '../../domain/auto-routers/routing-decision.ts';
import { tierQuestion } from '../../domain/auto-routers/tier-question.ts';
import type { JudgeCalls, JudgedCall } from './judge-calls.ts';

/** How a call is classified. The members are those of `RoutingDecision`. */
export interface Classification {
  /** Null: the default model answers. */
  readonly tier: Tier | null;
  readonly cause: RoutingCause;
  readonly signals: readonly string[];
  readonly score?: number;
  readonly probability?: number;
  readonly escalated?: true;
}

/** Finders of the keywords of a router. */
interface RouterKeywords {
  readonly rules: readonly { readonly finder: KeywordFinder; readonly tier: Tier }[];
  readonly escalation: KeywordFinder;
}

/** Finders of each router that has been used. */
const findersByRouter = new WeakMap<AutoRouter, RouterKeywords>();

function keywordsOf(router: AutoRouter): RouterKeywords {
  const keywords = findersByRouter.get(router) ?? {
    rules: router.keywordRules.map((rule) => ({ finder: keywordFinder(rule.keywords), tier: rule.tier })),
    escalation: keywordFinder(router.escalationKeywords),
  };
  findersByRouter.set(router, keywords);
  return keywords;
}

/**
 * Selects the tier of a call: by keyword rules, else by the classifier of the router. An escalation keyword raises the
 * tier to the next configured one. Throws only as `JudgeCalls.ask`.
 */
export async function classify(
  router: AutoRouter,
  conversation: Conversation,
  { judges, judgedCall }: { readonly judges: JudgeCalls; readonly judgedCall: JudgedCall },
): Promise<Classification> {
  const lastText = conversation.userTexts.at(-1) ?? '';
  const found = byKeywords(router, lastText) ?? (await byClassifier(router, conversation, { judges, judgedCall }));
  const isEscalating = router.escalationKeywords.length > 0 && keywordsOf(router).escalation.find(lastText).size > 0;
  if (!isEscalating || found.tier === null) return found;
  const { tier } = found;
  const higher = TIERS.find((candidate) => rankOf(candidate) > rankOf(tier) && router.tiers.has(candidate));
  if (higher === undefined) return found;
  return { ...found, tier: higher, escalated: true, signals: [...found.signals, `escalated_from:${tier}`] };
}

/** The highest tier of the matching keyword rules; null when no rule matches. */
function byKeywords(router: AutoRouter, lastText: string): Classification | null {
  if (router.keywordRules.length === 0) return null;
  const matched = keywordsOf(router).rules.filter(({ finder }) => finder.find(lastText).size > 0);
  const [highest] = matched.map(({ tier }) => tier).toSorted((left, right) => rankOf(right) - rankOf(left));
  return highest === undefined ? null : { tier: highest, cause: 'keyword_rule', signals: [`keyword_rule:${highest}`] };
}

async function byClassifier(
  router: AutoRouter,
  conversation: Conversation,
  { judges, judgedCall }: { readonly judges: JudgeCalls; readonly judgedCall: JudgedCall },
): Promise<Classification> {
  const { classifier } = router;
  const lastText = conversation.userTexts.at(-1) ?? '';
  switch (classifier.kind) {
    case 'heuristic':
      return fromScore(scoreByHeuristic(lastText, classifier.scoring), 'heuristic');
    case 'heuristic_v2': {
      const { success, ...found } = forecastSuccess(lastText, classifier.scoring);
      const signals = TIERS.map((tier) => `success:${tier}=${success[tier]}`);
      return {
        ...fromScore({ ...found, signals: [...found.signals, ...signals] }, 'heuristic_v2'),
        probability: success[found.tier],
      };
    }
    case 'llm':
      return askForTier(router, classifier, conversation, { judges, judgedCall });
    case 'heuristic_first': {
      const scored = scoreByHeuristic(lastText, classifier.scoring);
      if (scored.signals.length > 0 && rankOf(scored.tier) <= rankOf(classifier.maxTier))
        return fromScore(scored, 'heuristic_first_short_circuit');
      return askForTier(router, classifier, conversation, { judges, judgedCall });
    }
    case 'hybrid': {
      const { scoring, margin } = classifier;
      const scored = scoreByHeuristic(lastText, scoring);
      const isDecided = scored.isForced || !isNearBorder(scored.score, scoring.borders, margin);
      if (scored.signals.length > 0 && isDecided) return fromScore(scored, 'hybrid_short_circuit');
      return askForTier(router, classifier, conversation, { judges, judgedCall });
    }
    case 'capability': {
      const judged = await judges.ask(capabilityQuestion(classifier, conversation), judgedCall);
      if ('verdict' in judged) return fromJudge(judged.verdict, 'capability_classifier');
      return afterFailure(classifier.capableTier, 'capability_classifier_fallback', `judge-failed:${judged.failure}`);
    }
    case 'llm_v2': {
      const nameOf = (tier: Tier): string => router.tiers.get(tier)?.[0]?.model ?? tier;
      const models = { efficient: nameOf(classifier.efficientTier), capable: nameOf(classifier.capableTier) };
      const judged = await judges.ask(fuseQuestion(classifier, models, conversation), judgedCall);
      if ('verdict' in judged) return fromJudge(judged.verdict, 'llm_v2_classifier');
      return afterFailure(
        classifier.capableTier,
        'llm_v2_classifier_fallback',
        `llm-v2:judge-failed:${judged.failure}`,
      );
    }
  }
}

const fromScore = ({ tier, score, signals }: HeuristicResult, cause: RoutingCause): Classification => ({
  tier,
  cause,
  signals,
  score,
});

const fromJudge = (verdict: JudgedTier, cause: RoutingCause): Classification => ({ ...verdict, cause });

const afterFailure = (tier: Tier, cause: RoutingCause, signal: string): Classification => ({
  tier,
  cause,
  signals: [signal],
});

/** Asks the judge for a tier. After a failure, `classifier.fallback` decides. */
async function askForTier(
  router: AutoRouter,
  classifier: TierJudge & { readonly scoring: HeuristicScoring },
  conversation: Conversation,
  { judges, judgedCall }: { readonly judges: JudgeCalls; readonly judgedCall: JudgedCall },
): Promise<Classification> {
  const judged = await judges.ask(tierQuestion(classifier.judge, router, conversation), judgedCall);
  if ('verdict' in judged) return fromJudge(judged.verdict, 'llm_classifier');
  const signal = `judge-failed:${judged.failure}`;
  if (classifier.fallback === 'default_model')
    return { tier: null, cause: 'llm_classifier_fallback', signals: [signal] };
  const scored = scoreByHeuristic(conversation.userTexts.at(-1) ?? '', classifier.scoring);
  return { ...fromScore(scored, 'llm_classifier_fallback'), signals: [signal, ...scored.signals] };
}
