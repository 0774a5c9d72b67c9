import { useRouteError } from 'react-router';
import { Problem } from './Problem';

/** Shown when a page throws, or when its code cannot be loaded because the server is away or was updated. */
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
