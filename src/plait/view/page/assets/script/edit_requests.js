// Requests that change something: POST with a header that pages of other sites cannot set.

const meant = { "Content-Type": "application/json", "Plait-Edit": "yes" };

// Hints with commands help only in a terminal.
export async function sendEdit(address, request) {
  const answer = await fetch(`/api/v1${address}`, {
    method: "POST",
    headers: meant,
    body: JSON.stringify(request),
  }).catch(() => {
    throw new Error("The server does not respond.");
  });
  const result = await answer.json().catch(() => ({}));
  if (answer.ok) return result;
  const hints = (result.hints || []).filter((hint) => !hint.includes("`"));
  throw new Error(sentences([result.error || `the server returned an error (${answer.status})`, ...hints]));
}

export function sentences(parts) {
  return parts.map((part) => `${part.slice(0, 1).toUpperCase()}${part.slice(1)}.`).join(" ");
}
