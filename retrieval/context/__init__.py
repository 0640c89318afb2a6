"""From gathered candidates to the prompt's context: policy, gates, planner, rendering, manifest. Pure: no Django, no model, no network."""
