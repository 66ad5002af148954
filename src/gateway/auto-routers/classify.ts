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
import { tierQuestion } from '../../domain/auto-routers/tier-judgement.ts';
import type { JudgeCalls, JudgedCall } from './judge-calls.ts';

/** The tier of a call; null where the default model answers. */
export interface Classified {
  readonly tier: Tier | null;
  readonly cause: RoutingCause;
  readonly signals: readonly string[];
  readonly score?: number;
  readonly probability?: number;
  readonly escalated?: true;
}

/** The keywords of a router, compiled. */
interface RouterKeywords {
  readonly rules: readonly { readonly finder: KeywordFinder; readonly tier: Tier }[];
  readonly escalation: KeywordFinder;
}

const compiled = new WeakMap<AutoRouter, RouterKeywords>();

function keywordsOf(router: AutoRouter): RouterKeywords {
  const known = compiled.get(router) ?? {
    rules: router.keywordRules.map(({ keywords, tier }) => ({ finder: keywordFinder(keywords), tier })),
    escalation: keywordFinder(router.escalationKeywords),
  };
  compiled.set(router, known);
  return known;
}

/**
 * Selects the tier of a call: by keywords, else by the classifier of the router. Escalation keywords raise it by one.
 */
export async function classify(
  router: AutoRouter,
  conversation: Conversation,
  { judges, about }: { readonly judges: JudgeCalls; readonly about: JudgedCall },
): Promise<Classified> {
  const ask = conversation.asks.at(-1) ?? '';
  const found = byKeywords(router, ask) ?? (await byClassifier(router, conversation, { judges, about }));
  const isEscalating = router.escalationKeywords.length > 0 && keywordsOf(router).escalation.in(ask).size > 0;
  if (!isEscalating || found.tier === null) return found;
  const { tier } = found;
  const higher = TIERS.find((one) => rankOf(one) > rankOf(tier) && router.tiers.has(one));
  if (higher === undefined) return found;
  return { ...found, tier: higher, escalated: true, signals: [...found.signals, `escalated_from:${tier}`] };
}

/** The highest tier of the keyword rules that match; null where none does. */
function byKeywords(router: AutoRouter, ask: string): Classified | null {
  if (router.keywordRules.length === 0) return null;
  const matched = keywordsOf(router).rules.filter(({ finder }) => finder.in(ask).size > 0);
  const [highest] = matched.map(({ tier }) => tier).toSorted((one, other) => rankOf(other) - rankOf(one));
  return highest === undefined ? null : { tier: highest, cause: 'keyword_rule', signals: [`keyword_rule:${highest}`] };
}

async function byClassifier(
  router: AutoRouter,
  conversation: Conversation,
  { judges, about }: { readonly judges: JudgeCalls; readonly about: JudgedCall },
): Promise<Classified> {
  const { classifier } = router;
  const ask = conversation.asks.at(-1) ?? '';
  switch (classifier.kind) {
    case 'heuristic':
      return fromScore(scoreByHeuristic(ask, classifier.scoring), 'heuristic');
    case 'heuristic_v2': {
      const { success, ...found } = forecastSuccess(ask, classifier.scoring);
      const signals = TIERS.map((tier) => `success:${tier}=${success[tier]}`);
      return {
        ...fromScore({ ...found, signals: [...found.signals, ...signals] }, 'heuristic_v2'),
        probability: success[found.tier],
      };
    }
    case 'llm':
      return askForTier(router, classifier, conversation, { judges, about });
    case 'heuristic_first': {
      const scored = scoreByHeuristic(ask, classifier.scoring);
      if (scored.signals.length > 0 && rankOf(scored.tier) <= rankOf(classifier.maxTier))
        return fromScore(scored, 'heuristic_first_short_circuit');
      return askForTier(router, classifier, conversation, { judges, about });
    }
    case 'hybrid': {
      const { scoring, margin } = classifier;
      const scored = scoreByHeuristic(ask, scoring);
      const isDecided = scored.isForced || !isNearBorder(scored.score, scoring.borders, margin);
      if (scored.signals.length > 0 && isDecided) return fromScore(scored, 'hybrid_short_circuit');
      return askForTier(router, classifier, conversation, { judges, about });
    }
    case 'capability': {
      const judged = await judges.ask(capabilityQuestion(classifier, conversation), about);
      if ('verdict' in judged) return fromJudge(judged.verdict, 'capability_classifier');
      return failedOver(classifier.capableTier, 'capability_classifier_fallback', `judge-failed:${judged.failure}`);
    }
    case 'llm_v2': {
      const nameOf = (tier: Tier): string => router.tiers.get(tier)?.[0]?.model ?? tier;
      const models = { efficient: nameOf(classifier.efficientTier), capable: nameOf(classifier.capableTier) };
      const judged = await judges.ask(fuseQuestion(classifier, models, conversation), about);
      if ('verdict' in judged) return fromJudge(judged.verdict, 'llm_v2_classifier');
      return failedOver(classifier.capableTier, 'llm_v2_classifier_fallback', `llm-v2:judge-failed:${judged.failure}`);
    }
  }
}

const fromScore = ({ tier, score, signals }: HeuristicResult, cause: RoutingCause): Classified => ({
  tier,
  cause,
  signals,
  score,
});

const fromJudge = (verdict: JudgedTier, cause: RoutingCause): Classified => ({ ...verdict, cause });

const failedOver = (tier: Tier, cause: RoutingCause, signal: string): Classified => ({
  tier,
  cause,
  signals: [signal],
});

/** Asks the judge for a tier. After a failure, the heuristic or the default model decides. */
async function askForTier(
  router: AutoRouter,
  classifier: TierJudge & { readonly scoring: HeuristicScoring },
  conversation: Conversation,
  { judges, about }: { readonly judges: JudgeCalls; readonly about: JudgedCall },
): Promise<Classified> {
  const judged = await judges.ask(tierQuestion(classifier.judge, router, conversation), about);
  if ('verdict' in judged) return fromJudge(judged.verdict, 'llm_classifier');
  const signal = `judge-failed:${judged.failure}`;
  if (classifier.fallback === 'default_model')
    return { tier: null, cause: 'llm_classifier_fallback', signals: [signal] };
  const scored = scoreByHeuristic(conversation.asks.at(-1) ?? '', classifier.scoring);
  return { ...fromScore(scored, 'llm_classifier_fallback'), signals: [signal, ...scored.signals] };
}
