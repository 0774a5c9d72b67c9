import { useRouteError } from 'react-router';
import { Problem } from './Problem';

/** Shown if a page throws, or if its code cannot be loaded because the server is unreachable or was updated. */
export function CrashPage() {
  const error = useRouteError();
  return (
    <Problem
      error={error instanceof Error ? error : new Error(String(error))}
      onRetry={() => {
        window.location.reload();
      }}
    />
  );
}
