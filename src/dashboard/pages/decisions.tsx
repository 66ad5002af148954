import { dollars, localTime } from '../format.ts';
import { DecisionsDocument, type DecisionsQuery } from '../generated/graphql.ts';
import { usePages } from '../hooks.ts';
import { ListState, MoreButton } from '../parts/status.tsx';

type Answer = DecisionsQuery['decisions']['nodes'][number]['answers'][number];

/** Decisions with their answers and probabilities, newest first. */
export function DecisionsPage() {
  const { nodes, error, isLoading, more } = usePages(DecisionsDocument, {}, ({ decisions }) => decisions);
  return (
    <>
      <h1>Decisions</h1>
      <ListState error={error} isLoading={isLoading} isEmpty={nodes.length === 0} emptyText="No decision yet." />
      {nodes.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col">Model</th>
              <th scope="col">Answers</th>
              <th scope="col" class="number">
                Cost
              </th>
            </tr>
          </thead>
          <tbody>
            {nodes.map(({ id, createdAt, modelGroup, answers, costUsd, traceId }) => (
              <tr key={id}>
                <td>
                  <a href={`#/traces/${traceId}`}>{localTime(createdAt)}</a>
                </td>
                <td>{modelGroup}</td>
                <td>
                  <ul class="answers">
                    {answers.map((answer, index) => (
                      <li key={index}>{answerText(answer, index)}</li>
                    ))}
                  </ul>
                </td>
                <td class="number">{dollars(costUsd)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <MoreButton loadMore={more} isLoading={isLoading} />
    </>
  );
}

const percentText = (probability: number): string => `${(probability * 100).toFixed(1)} %`;

/** An answer as one line, with a note on a probability that is not calibrated. */
function answerText(answer: Answer, index: number): string {
  const name = 'name' in answer ? (answer.name ?? `question ${index + 1}`) : `question ${index + 1}`;
  const note = 'calibrated' in answer && !answer.calibrated ? ' (not calibrated)' : '';
  switch (answer.kind) {
    case 'PredicateAnswer':
      return `${name}: yes with ${percentText(answer.probability)}${note}`;
    case 'ChoiceAnswer':
      return `${name}: ${answer.choice} with ${percentText(answer.confidence)}${note}`;
    case 'ScoreAnswer':
      return `${name}: ${answer.score} with ${percentText(answer.confidence)}${note}`;
    case 'BoxAnswer':
      return `${name}: boxes`;
    case 'RefusedAnswer':
      return `${name}: refused`;
  }
}
