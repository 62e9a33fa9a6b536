// Requests that change something: sent by POST, with the header that no page of others can set.

const meant = { "Content-Type": "application/json", "Plait-Edit": "yes" };

export async function sendEdit(address, asks) {
  const answer = await fetch(`/api/v1${address}`, {
    method: "POST",
    headers: meant,
    body: JSON.stringify(asks),
  }).catch(() => {
    throw new Error("The server does not answer.");
  });
  const told = await answer.json().catch(() => ({}));
  if (answer.ok) return told;
  const error = new Error(sentences([told.error || `answered ${answer.status}`, ...(told.hints || [])]));
  error.canForce = answer.status === 409 && /--force|force/.test(error.message);
  throw error;
}

export function sentences(parts) {
  return parts.map((part) => `${part.slice(0, 1).toUpperCase()}${part.slice(1)}.`).join(" ");
}
